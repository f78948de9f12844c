/** Making a project. */
import { call } from '../../api.ts';
import { Fields } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to, useQuery } from '../../router.ts';
import { NEW_PROJECT } from './settings.tsx';

/** The next page of a new project, by its purpose. */
const NEXT: Readonly<Record<string, string>> = {
  files: '/files',
  mail: '/emails/new',
  newsletter: '/lists/new',
  secrets: '/vault',
};

async function create(entered: Entered, purpose: string): Promise<void> {
  const project = await call('POST /projects', { body: entered.given(NEW_PROJECT) });
  toast(`Project ${project.name} is made`);
  const next = Object.hasOwn(NEXT, purpose) ? NEXT[purpose] : '';
  navigate(`${to`/projects/${project.slug}`}${next}`);
}

export default function NewProjectPage() {
  const purpose = useQuery().get('for') ?? '';
  return (
    <>
      <PageHeader title="New project" back={{ href: hrefOf('/projects'), label: 'Projects' }} />
      <Panel>
        <Form
          is_wide
          submit="Create the project"
          onSubmit={(entered) => create(entered, purpose)}
          onCancel={() => navigate('/projects')}
        >
          <Fields fields={NEW_PROJECT} is_focused />
        </Form>
      </Panel>
    </>
  );
}
