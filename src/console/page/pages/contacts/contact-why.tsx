/** Why an address is mailed or not, what it was sent, and what waits for what: the sentences of the API, with dates and mails to follow. */
import type { ComponentChildren } from 'preact';
import { Loaded, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import type { Load } from '../../use-load.ts';

/** A moment, or the command that tells of a mail. */
const TOLD = /(\d{4}-\d\d-\d\dT[\d:.]+Z)|More: satchel email why ([0-9A-Z]{26})/;

export function ContactWhy({ project, load }: { project: string; load: Load<{ why: string[] }> }) {
  return (
    <Panel title="What it gets, and why">
      <Loaded load={load}>
        {({ why }) => (
          <ul class="told">
            {why.map((sentence, index) => (
              <li key={`${index} ${sentence}`} class={sentence.startsWith('  ') ? 'inner' : undefined}>
                {tell(sentence.trim(), project)}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

/** A sentence with its moments in the reader's zone, and its mails as links. */
function tell(sentence: string, project: string): ComponentChildren {
  const found = TOLD.exec(sentence);
  if (!found) return sentence;
  const [all, at, mail] = found;
  return (
    <>
      {sentence.slice(0, found.index)}
      {at ? (
        <Time at={at} exact />
      ) : (
        <a href={hrefOf(to`/projects/${project}/emails/${mail ?? ''}`)}>Its story</a>
      )}
      {tell(sentence.slice(found.index + all.length), project)}
    </>
  );
}
