/** Making a broadcast: a draft, which sends nothing. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { makeWords } from '../writing/own-words.ts';
import { BroadcastFields, useDraft, writeBroadcast } from './broadcast-fields.tsx';
import { askAboutBroadcast } from './part.tsx';

export default function NewBroadcastPage({ params }: PageProps<'project'>) {
  const all = to`/projects/${params.project}/broadcasts`;
  const fields = { project: params.project, ...useDraft() };
  const create = async (entered: Entered): Promise<void> => {
    await askAboutBroadcast(params.project, entered.text('name'));
    const { segment, filter, utm, ab, ...rest } = writeBroadcast(fields, entered);
    const template = await makeWords(params.project, { name: rest.name, from: entered.text('begin') });
    const made = await call('POST /projects/{project}/email-broadcasts', {
      path: params,
      body: {
        ...rest,
        template,
        ...(segment !== null && { segment }),
        ...(filter !== null && { filter }),
        ...(utm !== null && { utm }),
        ...(ab !== null && { ab }),
      },
    });
    toast(`The draft ${made.name} is saved`);
    navigate(to`/projects/${params.project}/broadcasts/${made.id}/write`, { replace: true });
  };
  return (
    <>
      <PageHeader
        title="New broadcast"
        back={{ href: hrefOf(all), label: 'Broadcasts' }}
        lead="It begins as a draft, which sends nothing. Before it goes out you see it as its readers will, and how many they are."
      />
      <div class="wide-form">
        <Form submit="Write the mail" onSubmit={create} onCancel={() => navigate(all)}>
          <BroadcastFields {...fields} />
        </Form>
      </div>
    </>
  );
}
