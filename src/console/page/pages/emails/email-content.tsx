/** The content of a mail: HTML, text and headers; of one that came whole its files, and the message as it is sent. */
import type { EmailContent as Content } from '../../api.generated.ts';
import { FileLink } from '../../components/button-link.tsx';
import { MailView } from '../../components/mail-view.tsx';
import { Facts, Loaded, Panel } from '../../components/page.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { useLoad } from '../../use-load.ts';

export function EmailContent({ path }: { path: { project: string; id: string } }) {
  const load = useLoad('GET /projects/{project}/emails/{id}/content', { path });
  return (
    <Panel title="What it says">
      <Loaded load={load}>
        {({ is_kept, body_html, body_text, headers, attachments, size_bytes }) => (
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
            {size_bytes !== null && <Whole path={path} attachments={attachments} size_bytes={size_bytes} />}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function Whole(
  props: { path: { project: string; id: string } } & Pick<Content, 'attachments'> & { size_bytes: number },
) {
  const { path, attachments, size_bytes } = props;
  return (
    <>
      {attachments.length > 0 && (
        <ul>
          {attachments.map(({ filename, size_bytes: bytes }, index) => (
            <li key={index}>
              {filename}{' '}
              <span class="muted">
                <Bytes of={bytes} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        <FileLink endpoint="GET /projects/{project}/emails/{id}/message" input={{ path }}>
          Download the message (<Bytes of={size_bytes} />)
        </FileLink>
      </div>
    </>
  );
}
