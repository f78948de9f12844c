/** One file: what it is, how it looks, links to it, and changing or deleting it. */
import type { ObjectRecord } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { FileForm } from './file-form.tsx';
import { Visibility } from './list.tsx';
import { Picture } from './picture.tsx';
import { SignedLink } from './signed-link.tsx';

const OBJECT = '/projects/{project}/objects/{public_id}';
/** A download begins at once, and its link need not outlive that. */
const DOWNLOAD_S = 60;

export default function FilePage({ params }: PageProps<'project' | 'file'>) {
  const path = { project: params.project, public_id: params.file };
  const load = useLoad(`GET ${OBJECT}`, { path });
  const file = load.data;
  const list = to`/projects/${params.project}/files`;
  const download = async (): Promise<void> => {
    const body = { expires_in_seconds: DOWNLOAD_S, download: true };
    const { url } = await call(`POST ${OBJECT}/links`, { path, body });
    location.assign(new URL(url).pathname);
  };
  const remove = async (): Promise<void> => {
    await call(`DELETE ${OBJECT}`, { path });
    toast('The file is deleted');
    navigate(list, { replace: true });
  };
  return (
    <>
      <PageHeader
        title={file?.original_filename ?? 'File'}
        back={{ href: hrefOf(list), label: 'Files' }}
        beside={file && <Visibility of={file.visibility} />}
        actions={file && <ActionButton act={download}>Download</ActionButton>}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <div class="columns">
              <div class="stack">
                <About of={of} />
                <FileForm path={path} of={of} etag={load.etag} onChange={load.reload} />
              </div>
              <div class="stack">
                {of.mime_type.startsWith('image/') && <Picture path={path} of={of} />}
                <SignedLink path={path} of={of} />
              </div>
            </div>
            <Ending
              title="Delete the file"
              lead="Its bytes go at once, and its link with them."
              name={of.original_filename}
              act={remove}
            >
              Links to it stop working. Mails that wait with it attached are sent all the same. It cannot be
              brought back, but from a backup.
            </Ending>
          </div>
        )}
      </Loaded>
    </>
  );
}

function About({ of }: { of: ObjectRecord }) {
  return (
    <Panel title="About">
      <Facts
        of={[
          ['Type', of.mime_type],
          ['Size', <Bytes key="size" of={of.size_bytes} />],
          ['Stored', <Time key="stored" at={of.created_at} exact />],
          ['Expires', of.expires_at ? <Time key="expires" at={of.expires_at} exact /> : 'Never'],
          [
            'Link',
            <span key="link" class="with-copy">
              {of.visibility === 'public' ? (
                <a href={of.url} target="_blank" rel="noreferrer noopener">
                  {of.url}
                </a>
              ) : (
                <span>{of.url}</span>
              )}
              <CopyButton text={of.url} label="Copy the link" />
            </span>,
          ],
          ['Id', <code key="id">{of.public_id}</code>],
          ['SHA-256', <code key="sha256">{of.sha256}</code>],
        ]}
      />
    </Panel>
  );
}
