/** Making a segment. */
import { call } from '../../api.ts';
import { PageHeader } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to, useQuery } from '../../router.ts';
import { SegmentForm } from './segment-form.tsx';

export default function NewSegmentPage({ params }: PageProps<'project'>) {
  const all = to`/projects/${params.project}/segments`;
  return (
    <>
      <PageHeader
        title="New segment"
        back={{ href: hrefOf(all), label: 'Segments' }}
        lead="A filter of a list under a name: for broadcasts, for enrolling, and for looking at contacts."
      />
      <SegmentForm
        project={params.project}
        list={useQuery().get('list') ?? ''}
        submit="Keep the segment"
        onCancel={() => navigate(all)}
        onSave={async (list, written) => {
          const { id, name } = await call('POST /projects/{project}/email-segments', {
            path: params,
            body: { list, ...written },
          });
          toast(`The segment ${name} is kept`);
          navigate(to`/projects/${params.project}/segments/${id}`, { replace: true });
        }}
      />
    </>
  );
}
