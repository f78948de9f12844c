/** Making a list. */
import { call } from '../../api.ts';
import { askAboutName } from '../../components/ask-first.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { callAll } from '../../use-load.ts';
import { enteredNewList, ListFields } from './list-fields.tsx';

export default function NewListPage({ params }: PageProps<'project'>) {
  const lists = to`/projects/${params.project}/lists`;
  const create = async (entered: Entered): Promise<void> => {
    const body = enteredNewList(entered);
    await askAboutName(
      'list',
      body.name,
      await callAll('GET /projects/{project}/email-lists', { path: params }),
    );
    const list = await call('POST /projects/{project}/email-lists', { path: params, body });
    toast(`The list ${list.name} is made`);
    navigate(to`/projects/${params.project}/lists/${list.id}`);
  };
  return (
    <>
      <PageHeader title="New list" back={{ href: hrefOf(lists), label: 'Lists' }} />
      <Panel>
        <Form is_wide submit="Create the list" onSubmit={create} onCancel={() => navigate(lists)}>
          <ListFields project={params.project} />
        </Form>
      </Panel>
    </>
  );
}
