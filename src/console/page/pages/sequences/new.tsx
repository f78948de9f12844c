/** Making a sequence: a draft with a name and a list, whose steps are written next. */
import { call } from '../../api.ts';
import { askAboutName } from '../../components/ask-first.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { BY_ITSELF, FirstFields, MOST, NAME } from './sequence-fields.tsx';

export default function NewSequencePage({ params }: PageProps<'project'>) {
  const all = to`/projects/${params.project}/sequences`;
  const create = async (entered: Entered): Promise<void> => {
    const body = { ...entered.read({ ...NAME, ...MOST, ...BY_ITSELF }), list: entered.text('list') };
    const { data } = await call('GET /projects/{project}/email-sequences', {
      path: params,
      query: { name: body.name },
    });
    const going = data.filter(({ status }) => status !== 'finished');
    await askAboutName('sequence', body.name, going);
    const { id } = await call('POST /projects/{project}/email-sequences', {
      path: params,
      body,
    });
    navigate(to`/projects/${params.project}/sequences/${id}`, { replace: true });
  };
  return (
    <>
      <PageHeader
        title="New sequence"
        back={{ href: hrefOf(all), label: 'Sequences' }}
        lead="It begins as a draft, which sends nothing. Its steps come next."
      />
      <Panel>
        <Form submit="Create the draft" onSubmit={create} onCancel={() => navigate(all)}>
          <FirstFields project={params.project} />
        </Form>
      </Panel>
    </>
  );
}
