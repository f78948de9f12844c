/** The first steps in a new project: a key, a file and a mail, each with the line that does it. */
import type { Activity, ProjectWithKeys } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Command } from '../../components/copy-button.tsx';
import { Panel } from '../../components/page.tsx';
import { type Step, Steps } from '../../components/steps.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { serverNow } from '../../time.ts';
import { curlThatSends, curlThatStores } from '../keys/key-secret.tsx';

/** Whoever has gone without one of them for so long does without it. No more than the shown days tell of. */
const NEW_MS = 6 * 86_400_000;
const PLACE_OF_KEY = 'YOUR_KEY';

interface Done {
  key: boolean;
  file: boolean;
  mail: boolean;
}

function doneOf({ api_keys }: ProjectWithKeys, { days, storage }: Activity): Done {
  return {
    key: api_keys.length > 0,
    file: storage.objects > 0 || days.some(({ uploads }) => uploads > 0),
    mail: days.some(({ sent, failed, bounced }) => sent + failed + bounced > 0),
  };
}

/** Without a key nothing happens in a project, however old it is. */
export function isNew(project: ProjectWithKeys, activity: Activity): boolean {
  const { key, file, mail } = doneOf(project, activity);
  const is_young = serverNow() - Date.parse(project.created_at) < NEW_MS;
  return !key || (is_young && !(file && mail));
}

/** Says whether there is anything to tell: a person sends and stores without a key. */
export function isUsed(project: ProjectWithKeys, activity: Activity): boolean {
  return Object.values(doneOf(project, activity)).includes(true) || activity.last_errors.length > 0;
}

export function FirstSteps({ project, activity }: { project: ProjectWithKeys; activity: Activity }) {
  const { slug } = project;
  const done = doneOf(project, activity);
  const stateOf = (is_done: boolean): Step['state'] => (is_done ? 'done' : done.key ? 'now' : 'later');
  return (
    <Panel title="First steps" lead="What is done shows by itself, as it happens.">
      <Steps
        label="First steps"
        of={[
          {
            title: 'Make a key',
            state: done.key ? 'done' : 'now',
            body: !done.key && (
              <>
                <p class="muted">
                  An app shows it with each request. It is shown to you once, with a line to try it.
                </p>
                <div>
                  <ButtonLink kind="primary" href={hrefOf(to`/projects/${slug}/keys/new`)}>
                    New key
                  </ButtonLink>
                </div>
              </>
            ),
          },
          {
            title: 'Store a file',
            state: stateOf(done.file),
            body: done.key && !done.file && (
              <>
                <p class="muted">With a key that may write, in the place of {PLACE_OF_KEY}:</p>
                <Command of={curlThatStores(PLACE_OF_KEY)} />
              </>
            ),
          },
          {
            title: 'Send a mail',
            state: stateOf(done.mail),
            body: done.key && !done.mail && (
              <>
                <p class="muted">
                  With a key that may send, and a mailbox for it to go out from
                  {person.value?.can_administer && (
                    <>
                      {' '}
                      (<a href={hrefOf('/mailboxes')}>Mailboxes</a>)
                    </>
                  )}
                  :
                </p>
                <Command of={curlThatSends(PLACE_OF_KEY)} />
              </>
            ),
          },
        ]}
      />
    </Panel>
  );
}
