/** One mail: its story, what it says, and trying it again or calling it off. */
import type { EmailStory } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { EmailContent } from './email-content.tsx';
import { EmailFacts, MailStatus } from './email-facts.tsx';
import { Timeline } from './timeline.tsx';

/** A mail on its way is looked at again this often. */
const ON_ITS_WAY_MS = 3000;

export default function EmailPage({ params }: PageProps<'project' | 'email'>) {
  const path = { project: params.project, id: params.email };
  const every_ms = ({ status }: EmailStory) =>
    status === 'queued' || status === 'sending' ? ON_ITS_WAY_MS : null;
  const load = useLoad(
    'GET /projects/{project}/emails/{id}/story',
    { path },
    { every_ms, looks_again: true },
  );
  const email = load.data;
  return (
    <>
      <PageHeader
        title={email ? email.subject || '(no subject)' : 'Mail'}
        back={{ href: hrefOf(to`/projects/${params.project}/emails`), label: 'Mail log' }}
        beside={email && <MailStatus of={email} />}
        lead={email && `To ${email.to}`}
        actions={email && <Acts path={path} email={email} onChange={load.reload} />}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <div class="columns">
              <Panel title="What happened">
                <Timeline email={of} />
              </Panel>
              <EmailFacts project={params.project} email={of} />
            </div>
            {of.replied_at && <EmailReplies path={path} />}
            <EmailContent path={path} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Acts(props: { path: { project: string; id: string }; email: EmailStory; onChange(): void }) {
  const { path, email, onChange } = props;
  const retry = async (): Promise<void> => {
    await call('POST /projects/{project}/emails/{id}/retry', { path });
    onChange();
  };
  const cancel = async (): Promise<void> => {
    await call('DELETE /projects/{project}/emails/{id}/schedule', { path });
    onChange();
  };
  if (['failed', 'bounced', 'unknown'].includes(email.status))
    return (
      <ActionButton act={retry} kind="primary" done="The mail is queued again">
        Try it again
      </ActionButton>
    );
  if (email.status === 'scheduled')
    return (
      <ActionButton act={cancel} kind="bad" done="The mail is called off">
        Do not send it
      </ActionButton>
    );
  return null;
}

/** The newest ones; few mails have more. */
const SHOWN = 20;

function EmailReplies({ path }: { path: { project: string; id: string } }) {
  const load = useLoad('GET /projects/{project}/emails/{id}/replies', { path, query: { per_page: SHOWN } });
  return (
    <Panel title="Replies" lead="What came to the inbox of its mailbox. Anybody may write any name there.">
      <Loaded load={load}>
        {({ data: replies }) => (
          <div class="stack">
            {replies.length === 0 && <p class="muted">They are no longer kept.</p>}
            {replies.map(({ from, subject, text, received_at }, index) => (
              <article key={index}>
                <p>
                  <strong>{from}</strong>: {subject || '(no subject)'}{' '}
                  <span class="muted">
                    <Time at={received_at} />
                  </span>
                </p>
                <p class="timeline-words">{text || '(no text)'}</p>
              </article>
            ))}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}
