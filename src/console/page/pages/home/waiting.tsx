/** Lists all that waits for somebody. Each line leads to it. */
import type { Activity } from '../../api.generated.ts';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';

type Todo = Activity['todo'][number];

const WORDS: Readonly<Record<Todo['kind'], [noun: string, rest: string]>> = {
  failed_mail: ['mail', 'failed since yesterday'],
  paused_sequence: ['sequence', 'paused by itself'],
  paused_broadcast: ['broadcast', 'paused by itself'],
  failed_import: ['import', 'failed this week'],
  expiring_secret: ['secret', 'ending soon, or past its end'],
  disabled_webhook: ['webhook', 'switched off after failing for days'],
  finding: ['finding', 'about this Satchel'],
  new_person: ['person', 'came in by single sign-on and has no project yet'],
  captured_mail: ['mail', 'kept here this week, and sent to nobody'],
};

/** `of_several`: of which project each is. Nothing where nothing waits. */
export function Waiting({ of, of_several }: { of: readonly Todo[]; of_several?: boolean }) {
  if (of.length === 0) return null;
  return (
    <Panel title="Waits for you" flush>
      <ul class="waiting">
        {of.map(({ kind, count, where }) => {
          const [noun, rest] = WORDS[kind];
          const [, slug] = /^\/console\/projects\/([^/]+)/.exec(where) ?? [];
          return (
            <li key={where}>
              <a href={where}>
                <Icon name="warning" />
                <span>
                  {counted(count, noun)} {rest}
                  {of_several && slug && <span class="muted"> · {slug}</span>}
                </span>
                <Icon name="forward" />
              </a>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
