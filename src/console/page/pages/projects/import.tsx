/** A project comes from its file: sent here, opened by its passphrase, looked into, imported, and let go on. */
import { useState } from 'preact/hooks';
import type { ComingProject, ImportedProject, ProjectFile, ProjectLetGo } from '../../api.generated.ts';
import { ApiError, addressOf, call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Field } from '../../components/field.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes, Count, counted } from '../../components/quantity.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { MoveProgress } from './export.tsx';

interface Opened {
  file: ProjectFile;
  passphrase: string;
  coming: ComingProject;
}

export default function ImportProjectPage() {
  const [file, setFile] = useState<ProjectFile | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [imported, setImported] = useState<ImportedProject | null>(null);
  return (
    <>
      <PageHeader
        title="Import a project"
        back={{ href: hrefOf('/projects'), label: 'Projects' }}
        lead="From the file that another Satchel made of it. Keys, links and addresses stay the same; nothing is sent before you say so."
      />
      {imported ? (
        <Arrived of={imported} />
      ) : opened ? (
        <Confirm of={opened} onDone={setImported} />
      ) : file ? (
        <Open file={file} onOpened={setOpened} onOther={() => setFile(null)} />
      ) : (
        <Choose onChosen={setFile} />
      )}
    </>
  );
}

function Choose({ onChosen }: { onChosen(file: ProjectFile): void }) {
  const here = useLoad('GET /project-files', {});
  const [chosen, setChosen] = useState<File | null>(null);
  const [part, setPart] = useState<number | null>(null);
  const send = async (): Promise<void> => {
    if (!chosen) return;
    setPart(0);
    try {
      onChosen(await sendProjectFile(chosen, setPart));
    } finally {
      setPart(null);
    }
  };
  const files = here.data?.files ?? [];
  return (
    <div class="stack">
      <Panel title="Choose the file">
        <Form submit="Send the file" onSubmit={send} is_disabled={!chosen}>
          <Field
            name="file"
            label="File"
            hint="Its name ends in .satchel. It may be of any size, and is kept for a day."
          >
            {(ties) => (
              <input
                {...ties}
                class="input"
                type="file"
                accept=".satchel"
                onChange={(event) => setChosen(event.currentTarget.files?.[0] ?? null)}
              />
            )}
          </Field>
          {part !== null && <progress aria-label="The file is being sent" value={part} />}
        </Form>
      </Panel>
      {files.length > 0 && (
        <Panel title="Files that are here">
          <ul class="stack-small">
            {files.map((file) => (
              <li key={file.id}>
                {file.project.name}, <Bytes of={file.size_bytes} />, <Time at={file.created_at} />{' '}
                <button type="button" class="button small" onClick={() => onChosen(file)}>
                  Use this file
                </button>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function Open(props: { file: ProjectFile; onOpened(opened: Opened): void; onOther(): void }) {
  const { file, onOpened, onOther } = props;
  const [is_working, setWorking] = useState(false);
  const look = async (entered: Entered): Promise<void> => {
    const passphrase = entered.exact('passphrase');
    setWorking(true);
    try {
      const path = { project_file: file.id };
      const coming = await call('POST /project-files/{project_file}/check', { path, body: { passphrase } });
      onOpened({ file, passphrase, coming });
    } finally {
      setWorking(false);
    }
  };
  return (
    <Panel
      title={`The file of ${file.project.name}`}
      lead="It is read to its end before anything is written."
    >
      <Form submit="Look into it" onSubmit={look} onCancel={onOther}>
        <SecretField
          name="passphrase"
          label="Passphrase"
          hint="The one that it was exported with."
          is_focused
        />
        {is_working && <MoveProgress says="The file is being read." />}
      </Form>
    </Panel>
  );
}

function Confirm({ of, onDone }: { of: Opened; onDone(imported: ImportedProject): void }) {
  const { file, passphrase, coming } = of;
  const [is_working, setWorking] = useState(false);
  const start = async (entered: Entered): Promise<void> => {
    setWorking(true);
    try {
      const body = { passphrase, slug: entered.text('slug') };
      onDone(
        await call('POST /project-files/{project_file}/import', { path: { project_file: file.id }, body }),
      );
    } finally {
      setWorking(false);
    }
  };
  return (
    <div class="stack">
      <Panel title="What comes">
        <Facts
          of={[
            ['Project', coming.name],
            ['Rows', <Count key="rows" of={coming.rows} />],
            ['Files', <Count key="files" of={coming.objects} />],
            ['Tokens', <Count key="tokens" of={coming.tokens} />],
          ]}
        />
      </Panel>
      <MissingHere of={coming.missing} />
      <Panel title="Import it">
        <Form submit="Import the project" onSubmit={start}>
          <TextField
            name="slug"
            label="Slug"
            value={coming.slug}
            hint="Its name in addresses. Where it is taken, it gets a number."
            is_mono
          />
          {is_working && <MoveProgress says="The project is being imported." />}
        </Form>
      </Panel>
    </div>
  );
}

const MISSING = {
  domains: ['Sending domains', '/sending-domains/new'],
  mailboxes: ['Mailboxes', '/mailboxes/new'],
  people: ['People', '/people/new'],
  link_domains: ['Link domains', null],
  ai_accounts: ['AI accounts, to be assigned', '/ai-accounts'],
  database_projects: ['Databases, to be assigned', '/database-projects'],
} as const satisfies Record<keyof ComingProject['missing'], readonly [string, string | null]>;

function MissingHere({ of }: { of: ComingProject['missing'] }) {
  const kinds = (Object.keys(MISSING) as (keyof typeof MISSING)[]).filter((kind) => of[kind].length > 0);
  return (
    <Panel
      title="What is missing here"
      lead={
        kinds.length === 0
          ? 'Nothing: all that it uses is here.'
          : 'It is imported all the same. Mail of what is missing waits until that is here.'
      }
    >
      {kinds.length > 0 && (
        <Facts
          of={kinds.map((kind) => {
            const [label, href] = MISSING[kind];
            return [
              label,
              <span key={kind}>
                {of[kind].join(', ')}
                {href && (
                  <>
                    {' '}
                    <a href={hrefOf(href)} target="_blank" rel="noreferrer">
                      Add
                    </a>
                  </>
                )}
              </span>,
            ] as const;
          })}
        />
      )}
    </Panel>
  );
}

function Arrived({ of }: { of: ImportedProject }) {
  const [went, setWent] = useState<ProjectLetGo | null>(null);
  const letGo = async (): Promise<void> =>
    setWent(await call('POST /projects/{project}/let-go', { path: { project: of.public_id } }));
  return (
    <div class="stack">
      <Panel
        title={`${of.name} is here`}
        lead={`${counted(of.rows, 'row')}, ${counted(of.objects, 'file')} and ${counted(of.tokens, 'token')} came.`}
      >
        <a class="button primary" href={hrefOf(to`/projects/${of.slug}`)}>
          Open {of.name}
        </a>
      </Panel>
      <MissingHere of={of.missing} />
      <Panel
        title="Let it go on"
        lead="Schedules, sequences and broadcasts came paused, and mail that waits is withheld. Let it go on once what it needs is here, and its keys lead here."
      >
        {went ? (
          <>
            <p role="status">
              It goes on: {counted(went.schedules, 'schedule')}, {counted(went.sequences, 'sequence')},{' '}
              {counted(went.broadcasts, 'broadcast')}, {counted(went.jobs, 'job')} that waited.
            </p>
            {went.stayed.map(({ kind, id, reason }) => (
              <p key={id} class="said">
                The {kind} stays paused: {reason}
              </p>
            ))}
          </>
        ) : (
          <ActionButton act={letGo} done={`${of.name} goes on`}>
            Let it go on
          </ActionButton>
        )}
      </Panel>
    </div>
  );
}

/** `onProgress` gets the part that has left, from 0 to 1. Throws ApiError; where the connection breaks off, one of status 0. */
function sendProjectFile(file: File, onProgress: (part: number) => void): Promise<ProjectFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', addressOf('POST /project-files'));
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('X-Satchel-Console', '1');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1);
    request.onload = () => {
      if (request.status === 201) resolve(request.response.data);
      else reject(new ApiError(request.status, request.response));
    };
    request.onerror = () => reject(new ApiError(0, { message: BROKEN_OFF }));
    request.send(file);
  });
}

const BROKEN_OFF = 'The connection broke off. Nothing of the file is kept: choose it again.';
