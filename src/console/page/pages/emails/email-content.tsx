/** What a mail says: its HTML, its text and its headers. */
import { Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { MailView } from '../../components/mail-view.tsx';
import { Panel } from '../../components/panel.tsx';
import { useLoad } from '../../use-load.ts';

export function EmailContent({ path }: { path: { project: string; id: string } }) {
  const load = useLoad('GET /projects/{project}/emails/{id}/content', { path });
  return (
    <Panel title="What it says">
      <Loaded load={load}>
        {({ is_kept, body_html, body_text, headers }) => (
          <div class="stack">
            {!is_kept && (
              <p class="muted">Its content is no longer kept: after a while only the log remains.</p>
            )}
            <MailView
              title="The mail as its readers see it"
              html={body_html}
              text={body_text}
              more={{
                Headers: (
                  <Facts of={headers.map(({ name, value }) => [name, <code key={name}>{value}</code>])} />
                ),
              }}
            />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}
