/** Making a project. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { ProjectFields } from './project-fields.tsx';

async function create(entered: Entered): Promise<void> {
  const slug = entered.text('slug');
  const description = entered.text('description');
  const primary_url = entered.text('primary_url');
  const project = await call('POST /projects', {
    body: {
      name: entered.text('name'),
      platforms: entered.words('platforms'),
      ...(slug && { slug }),
      ...(description && { description }),
      ...(primary_url && { primary_url }),
    },
  });
  toast(`Project ${project.name} is made`);
  navigate(to`/projects/${project.slug}`);
}

export default function NewProjectPage() {
  return (
    <>
      <PageHeader title="New project" back={{ href: hrefOf('/projects'), label: 'Projects' }} />
      <Panel>
        <Form is_wide submit="Create the project" onSubmit={create} onCancel={() => navigate('/projects')}>
          <ProjectFields />
        </Form>
      </Panel>
    </>
  );
}
