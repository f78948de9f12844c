/** What people answered to a mail, without what they quoted of it. */
import { Loaded, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useLoad } from '../../use-load.ts';

/** The newest ones; few mails have more. */
const SHOWN = 20;

export function EmailReplies({ path }: { path: { project: string; id: string } }) {
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
