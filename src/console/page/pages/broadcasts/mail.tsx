/** A broadcast's mail in the layout of the project, as its reader sees it; and a test of it to oneself. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { MailView } from '../../components/mail-view.tsx';
import { Empty, Loaded, Panel } from '../../components/page.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { TestDialog } from '../marketing/test-dialog.tsx';
import { type BroadcastPartProps, isPlanned } from './part.tsx';

export function Mail({ path, of }: BroadcastPartProps) {
  if (of.template === null)
    return (
      <div class="panel">
        <Empty title="No mail yet">
          <p>Write it, or start from a template.</p>
          <ButtonLink href={hrefOf(to`/projects/${path.project}/broadcasts/${path.broadcast}/write`)}>
            Write the mail
          </ButtonLink>
        </Empty>
      </div>
    );
  return <Shown path={path} of={of} />;
}

function Shown({ path, of }: Pick<BroadcastPartProps, 'path' | 'of'>) {
  const [is_testing, setTesting] = useState(false);
  const load = useLoad('GET /projects/{project}/email-broadcasts/{broadcast}/preview', { path });
  const { project } = path;
  const words = useLoad(
    'GET /projects/{project}/email-templates/{slug}',
    isPlanned(of) && of.template !== null ? { path: { project, slug: of.template } } : null,
  );
  return (
    <Panel
      title={load.data?.subject || 'The mail'}
      lead={
        isPlanned(of)
          ? 'As its readers see it, with sample values, in the layout of the project.'
          : 'As template and settings are now. What was sent stands with each mail in the log.'
      }
      actions={
        <>
          {mayWrite() && (
            <button type="button" class="button small" onClick={() => setTesting(true)}>
              Send a test
            </button>
          )}
          {isPlanned(of) && (
            <ButtonLink
              is_small
              href={hrefOf(to`/projects/${path.project}/broadcasts/${path.broadcast}/write`)}
            >
              Write the mail
            </ButtonLink>
          )}
        </>
      }
    >
      <Loaded load={load}>
        {({ preheader, body_html, body_text, missing }) => (
          <div class="stack mail-view">
            {words.data?.has_draft && (
              <p class="notice warn">
                What was written last is a draft, and not in this mail: publish it where it is written.
              </p>
            )}
            {preheader && <p class="muted">Behind the subject: {preheader}</p>}
            {missing.length > 0 && (
              <p class="notice warn">
                No value for {missing.join(', ')}: give one among its variables, or nobody gets a mail.
              </p>
            )}
            <MailView title="The mail as its readers see it" html={body_html} text={body_text} />
          </div>
        )}
      </Loaded>
      {is_testing && <SendTest path={path} onClose={() => setTesting(false)} />}
    </Panel>
  );
}

/** Sending a broadcast's mail to oneself. */
function SendTest(props: { path: { project: string; broadcast: string }; onClose(): void }) {
  const { path, onClose } = props;
  const send = (to: string) =>
    call('POST /projects/{project}/email-broadcasts/{broadcast}/test', { path, body: { to } });
  return (
    <TestDialog project={path.project} title="Send a test" send={send} onClose={onClose}>
      With sample values, and marked as a test in its subject. It goes out at once, and nothing of it counts.
    </TestDialog>
  );
}
