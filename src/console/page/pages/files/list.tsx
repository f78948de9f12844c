/** The files of a project: found by name, uploaded by a button or by dropping them on the page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ObjectRecord } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { type Chosen, ChosenBar, useChosen } from '../../components/chosen.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Bytes, counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Thumbnail } from '../../components/variant.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { UploadDialog } from './upload-dialog.tsx';

export default function FilesPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/objects', { path: params }, { filters: ['q', 'visibility'] });
  const [chosen, setChosen] = useState<readonly File[] | null>(null);
  const picked = useChosen<ObjectRecord>({
    one: 'file',
    keyOf: ({ public_id }) => public_id,
    nameOf: ({ original_filename }) => original_filename,
    onChange: list.reload,
  });
  const is_over = useFileDrop(setChosen) && mayWrite();
  const upload = mayWrite() && (
    <button type="button" class="button primary" onClick={() => setChosen([])}>
      <Icon name="plus" />
      Upload files
    </button>
  );
  const revoke = async (): Promise<void> => {
    await call('POST /projects/{project}/object-links/revoke', { path: params });
    toast('No link that was made before opens anything any more');
  };
  return (
    <>
      <PageHeader
        title="Files"
        lead="What apps and people have stored. A public file has a link for ever; a private one opens with a key, or a link for a while."
        actions={
          <>
            <ConfirmByName title="Revoke all links" name={params.project} act={revoke}>
              <p>
                Every link to a private file of this project that was made so far stops at once, whoever has
                it. Files, and the addresses of public ones, stay as they are.
              </p>
            </ConfirmByName>
            {upload}
          </>
        }
      />
      <Filters>
        <SearchFilter label="File name" />
        <ChoiceFilter name="visibility" label="Visibility" choices={['public', 'private']} />
      </Filters>
      <DataTable
        label="Files"
        list={list}
        keyOf={(file) => file.public_id}
        href={(file) => hrefOf(to`/projects/${params.project}/files/${file.public_id}`)}
        columns={[
          {
            title: 'Name',
            cell: (file) => (
              <span class="with-thumbnail">
                <Thumbnail project={params.project} of={file} />
                <span>{file.original_filename}</span>
              </span>
            ),
          },
          { title: 'Type', cell: (file) => <span class="muted">{file.mime_type}</span> },
          { title: 'Visibility', cell: (file) => <Visibility of={file.visibility} /> },
          { title: 'Size', is_number: true, cell: (file) => <Bytes of={file.size_bytes} /> },
          { title: 'Stored', cell: (file) => <Time at={file.created_at} /> },
          ...picked.columns,
        ]}
        empty={
          <Empty
            drawing="files"
            title="No file yet"
            command={`curl -H "X-API-Key: $KEY" -F file=@photo.jpg ${location.origin}/api/v1/objects`}
          >
            <p>Drop files on this page, or upload one with a key that may write or upload.</p>
            {upload}
          </Empty>
        }
      />
      <ChosenBar chosen={picked} one="file" shown={list.data?.data ?? []}>
        <ActsOnPicked project={params.project} picked={picked} />
      </ChosenBar>
      {is_over && <div class="drop-over">Drop the files to upload them</div>}
      {chosen && mayWrite() && (
        <UploadDialog
          project={params.project}
          chosen={chosen}
          onClose={() => setChosen(null)}
          onStored={list.reload}
        />
      )}
    </>
  );
}

const FILE = '/projects/{project}/objects/{public_id}';

function ActsOnPicked({ project, picked }: { project: string; picked: Chosen<ObjectRecord> }) {
  const pathOf = ({ public_id }: ObjectRecord) => ({ project, public_id });
  const name = counted(picked.rows.length, 'file');
  const show = async (visibility: ObjectRecord['visibility'], told: string): Promise<void> => {
    await askFirst({
      title: `Make ${name} ${visibility}?`,
      submit: `Make ${visibility}`,
      told: <p>{told}</p>,
    });
    const change = (file: ObjectRecord) =>
      call(`PATCH ${FILE}`, { path: pathOf(file), if_match: null, body: { visibility } });
    await picked.each(change, `${visibility} now`);
  };
  return (
    <>
      <ActionButton act={() => show('public', 'Everybody who has the link of one can open it.')}>
        Make public
      </ActionButton>
      <ActionButton act={() => show('private', 'They open with a key, or by a link for a while.')}>
        Make private
      </ActionButton>
      <ConfirmByName
        title="Delete those picked"
        button="Delete"
        name={name}
        act={() => picked.each((file) => call(`DELETE ${FILE}`, { path: pathOf(file) }), 'deleted')}
      >
        <p>
          Links to them stop working. Mails that wait with one attached are sent all the same. They cannot be
          brought back, but from a backup.
        </p>
      </ConfirmByName>
    </>
  );
}

export function Visibility({ of }: { of: 'public' | 'private' }) {
  return <Status of={of} tone={of === 'public' ? 'warn' : 'neutral'} />;
}

/** Says whether files are held over the page; `onDrop` is given those that are dropped. */
function useFileDrop(onDrop: (files: readonly File[]) => void): boolean {
  const [is_over, setOver] = useState(false);
  const latest = useRef(onDrop);
  latest.current = onDrop;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    // The page is left where there is nothing that is gone to.
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(false);
      latest.current([...event.dataTransfer.files]);
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  }, []);
  return is_over;
}
