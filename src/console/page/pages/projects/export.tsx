/** A project as one file, to be imported into another Satchel: what is in it, whether it goes on here, and the download. */
import { useState } from 'preact/hooks';
import type { ExportedProject, ProjectWithKeys } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FileLink } from '../../components/button-link.tsx';
import { CheckField, SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { counted, tellBytes } from '../../components/quantity.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

export default function ExportProjectPage({ params }: PageProps<'project'>) {
  const load = useLoad('GET /projects/{project}', { path: params });
  return (
    <>
      <PageHeader
        title="Export the project"
        back={{
          href: hrefOf(to`/projects/${params.project}/settings`),
          label: 'Project settings',
        }}
        lead="All of it as one file, to be imported into another Satchel, where its keys, links and addresses stay the same."
      />
      <Loaded load={load}>{(project) => <Export project={project} />}</Loaded>
    </>
  );
}

function Export({ project }: { project: ProjectWithKeys }) {
  const [made, setMade] = useState<{ file: ExportedProject; is_copy: boolean } | null>(null);
  const [is_working, setWorking] = useState(false);
  const start = async (entered: Entered): Promise<void> => {
    const is_copy = entered.text('copy') === 'copy';
    setWorking(true);
    try {
      const body = {
        passphrase: entered.exact('passphrase'),
        copy: is_copy,
        with_store: entered.flag('with_store'),
      };
      const path = { project: project.public_id };
      setMade({ file: await call('POST /projects/{project}/export', { path, body }), is_copy });
    } finally {
      setWorking(false);
    }
  };
  if (made) return <Made project={project} {...made} />;
  return (
    <div class="stack">
      <WhatGoes />
      <Panel title="Make the file">
        <Form submit="Export the project" onSubmit={start}>
          <SelectField
            name="copy"
            label="The project here"
            choices={[
              ['move', 'Stops, as it moves'],
              ['copy', 'Goes on: this is a copy'],
            ]}
            hint="As it stops it is inactive: its keys are refused, and nothing of it is sent. It can go on again."
          />
          <SecretField
            name="passphrase"
            label="Passphrase"
            hint="12 characters or more. It seals the secrets in the file, and is kept nowhere: the import asks for it."
          />
          <CheckField
            name="with_store"
            label="Bring the bytes along that are in the object store"
            hint="Without, the other Satchel must reach the same bucket."
          />
          {is_working && <MoveProgress says="The file is being written." />}
        </Form>
      </Panel>
    </div>
  );
}

function WhatGoes() {
  return (
    <Panel title="What is in it">
      <div class="stack-small">
        <p>
          Keys and tokens (as hashes), files, the mail log, templates, schedules, lists with their contacts,
          suppressions, sequences, broadcasts, webhooks, the audit trail, and the vault, sealed by the
          passphrase. Addresses, mails and files in it are not sealed: keep it as you keep backups.
        </p>
        <p>
          Not in it is what belongs to Satchel as a whole: sending domains, mailboxes, people, AI and database
          accounts. The import lists those that are missing there.
        </p>
      </div>
    </Panel>
  );
}

function Made(props: { project: ProjectWithKeys; file: ExportedProject; is_copy: boolean }) {
  const { project, file, is_copy } = props;
  const { rows, objects, stored_objects, left_out } = file;
  const letGo = async (): Promise<void> => {
    await call('POST /projects/{project}/let-go', { path: { project: project.public_id } });
  };
  return (
    <div class="stack">
      <Panel
        title="The file is ready"
        lead={`${counted(rows, 'row')} and ${counted(objects, 'file')} are in it.`}
      >
        {stored_objects > 0 && (
          <p>{counted(stored_objects, 'file')} stay in the object store, and are not in it.</p>
        )}
        {left_out.length > 0 && (
          <p class="said">
            Left out, as they were deleted meanwhile, or their bytes were gone or damaged:{' '}
            {left_out.join(', ')}
          </p>
        )}
        <p>
          It is kept here until <Time at={file.expires_at} />. In the other Satchel, choose Import a project
          beside its projects.
        </p>
        <FileLink endpoint="GET /project-files/{project_file}" input={{ path: { project_file: file.id } }}>
          Download {tellBytes(file.size_bytes)}
        </FileLink>
      </Panel>
      {!is_copy && (
        <Panel
          title={`${project.name} is inactive here`}
          lead="Nothing of it goes on, so that nobody gets a mail twice. Should it stay after all, let it go on."
        >
          <ActionButton act={letGo} done={`${project.name} goes on here`}>
            Let it go on here
          </ActionButton>
        </Panel>
      )}
    </div>
  );
}

const LOOK_MS = 1000;

export function MoveProgress({ says }: { says: string }) {
  const { data } = useLoad('GET /project-files', {}, { every_ms: LOOK_MS });
  const percent = data?.under_way.percent ?? null;
  return (
    <div class="notice" role="status">
      <p>
        <strong>{says}</strong>
        {percent !== null && ` ${percent} %`} Stay on this page until it is done.
      </p>
      <progress aria-label={says} {...(percent === null ? {} : { value: percent, max: 100 })} />
    </div>
  );
}
