/** Changing a broadcast that is a draft or scheduled. */
import type { Broadcast } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { BroadcastFields, useDraft, writeBroadcast } from './broadcast-fields.tsx';
import { BroadcastStatus, isPlanned } from './part.tsx';

export default function EditBroadcastPage({ params }: PageProps<'project' | 'broadcast'>) {
  const load = useLoad('GET /projects/{project}/email-broadcasts/{broadcast}', { path: params });
  const back = to`/projects/${params.project}/broadcasts/${params.broadcast}`;
  return (
    <>
      <PageHeader
        title={load.data ? `Edit ${load.data.name}` : 'Edit the broadcast'}
        back={{ href: hrefOf(back), label: load.data?.name ?? 'Broadcast' }}
        beside={load.data && <BroadcastStatus of={load.data} />}
        actions={
          load.data &&
          isPlanned(load.data) && (
            <a
              class="button"
              href={hrefOf(to`/projects/${params.project}/broadcasts/${params.broadcast}/write`)}
            >
              Write the mail
            </a>
          )
        }
      />
      <Loaded load={load}>
        {(broadcast) =>
          isPlanned(broadcast) ? (
            <EditForm path={params} of={broadcast} etag={load.etag} />
          ) : (
            <div class="panel">
              <Empty title="What has begun to be sent does not change any more">
                <p>A copy of it can be changed, and sent anew.</p>
                <a href={hrefOf(back)}>Back to the broadcast</a>
              </Empty>
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function EditForm(props: {
  path: { project: string; broadcast: string };
  of: Broadcast;
  etag: string | null;
}) {
  const { path, of, etag } = props;
  const fields = { project: path.project, ...useDraft(of) };
  const here = to`/projects/${path.project}/broadcasts/${path.broadcast}`;
  const save = async (entered: Entered): Promise<void> => {
    const body = writeBroadcast(fields, entered);
    await call('PATCH /projects/{project}/email-broadcasts/{broadcast}', {
      path,
      if_match: entered.version,
      body,
    });
    toast('The broadcast is saved');
    navigate(here);
  };
  return (
    <div class="wide-form">
      <Form submit="Save the broadcast" version={etag} onSubmit={save} onCancel={() => navigate(here)}>
        <BroadcastFields {...fields} of={of} />
      </Form>
    </div>
  );
}
