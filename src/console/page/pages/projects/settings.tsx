/** Changing a project, and deleting it with everything in it. */
import type { ProjectWithKeys } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { Ending } from '../../components/confirm-by-name.tsx';
import { area, choice, Fields, optional, text, words } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { enteredLinkDomain, enteredSending, LinkDomainField, SendingFields } from './sending-fields.tsx';

export default function ProjectSettingsPage({ params }: PageProps<'project'>) {
  const load = useLoad('GET /projects/{project}', { path: params });
  return (
    <>
      <PageHeader
        title="Project settings"
        back={{ href: hrefOf(to`/projects/${params.project}`), label: load.data?.name ?? 'Project' }}
      />
      <Loaded load={load}>
        {(project) => (
          <div class="stack">
            <Panel title="About the project">
              <ChangeForm project={project} etag={load.etag} />
            </Panel>
            {may('can_administer') && may('can_reveal_vault') && (
              <Panel
                title="Move it to another Satchel"
                lead="All of it as one file: to be imported elsewhere, or kept as a copy."
              >
                <a class="button" href={hrefOf(to`/projects/${project.slug}/export`)}>
                  Export the project
                </a>
              </Panel>
            )}
            <Danger project={project} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function ChangeForm({ project, etag }: { project: ProjectWithKeys; etag: string | null }) {
  const change = async (entered: Entered): Promise<void> => {
    const changed = await call('PATCH /projects/{project}', {
      path: { project: project.public_id },
      if_match: entered.version,
      body: {
        ...entered.read(PROJECT),
        ...enteredSending(entered, project),
        ...enteredLinkDomain(entered, project),
      },
    });
    toast('The changes are saved');
    navigate(to`/projects/${changed.slug}`);
  };
  return (
    <Form is_wide submit="Save the changes" version={etag} onSubmit={change}>
      <Fields fields={PROJECT} of={project} />
      {may('can_administer') && <SendingFields project={project} />}
      {may('can_administer') && <LinkDomainField {...project} />}
    </Form>
  );
}

function Danger({ project }: { project: ProjectWithKeys }) {
  const remove = async (): Promise<void> => {
    const { cascade } = await call('DELETE /projects/{project}', { path: { project: project.public_id } });
    const { api_keys, stored_objects, email_lists, email_contacts, email_sequences, email_broadcasts } =
      cascade;
    const gone = [
      ...[counted(api_keys, 'key'), counted(stored_objects, 'file'), counted(email_lists, 'list')],
      counted(email_contacts, 'contact'),
      `${counted(email_sequences, 'sequence')} and ${counted(email_broadcasts, 'broadcast')}`,
    ].join(', ');
    toast(`Project ${project.name} is deleted, and with it ${gone}`);
    navigate('/projects', { replace: true });
  };
  return (
    <Ending
      title="Delete the project"
      lead="Nothing of it can be brought back, but from a backup."
      name={project.slug}
      act={remove}
    >
      With it go {counted(project.api_keys.length, 'key')}, all its files, its mail log, templates and
      schedules, its lists with their contacts and imports, its suppressions, its sequences, and its vault.
      Apps that use its keys are refused at once.
    </Ending>
  );
}

const slug_words = {
  hint: 'How the command line and the API name the project. Left empty, it is made from the name.',
  is_mono: true,
};
const FURTHER = {
  description: area('Description', { rows: 3 }),
  primary_url: optional('Web site', { placeholder: 'https://shop.example.com' }),
  platforms: words('Platforms', { placeholder: 'web, ios', hint: 'Separated by commas.' }),
};

export const NEW_PROJECT = { name: text('Name'), slug: optional('Slug', slug_words), ...FURTHER };
export const PROJECT = {
  name: text('Name'),
  slug: text('Slug', slug_words),
  status: choice(
    'Status',
    { active: 'Active', inactive: 'Inactive' },
    {
      hint: 'Nothing of an inactive project is sent: what falls due waits. Its keys are refused; its public files stay served.',
    },
  ),
  ...FURTHER,
};
