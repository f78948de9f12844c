/** A segment: who is in it now, changing it, and its end. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { SegmentForm } from './segment-form.tsx';

export default function SegmentPage({ params }: PageProps<'project' | 'segment'>) {
  const load = useLoad('GET /projects/{project}/email-segments/{segment}', { path: params });
  const all = to`/projects/${params.project}/segments`;
  const remove = async (): Promise<void> => {
    await askFirst({
      title: `Delete the segment ${load.data?.name ?? ''}?`,
      submit: 'Delete it',
      tone: 'bad',
      told: <p>Nobody leaves the list. Drafts of broadcasts to it keep its filter.</p>,
    });
    await call('DELETE /projects/{project}/email-segments/{segment}', { path: params });
    navigate(all);
  };
  return (
    <>
      <PageHeader
        title={load.data?.name ?? 'Segment'}
        back={{ href: hrefOf(all), label: 'Segments' }}
        actions={
          load.data && (
            <>
              <ButtonLink
                href={hrefOf(
                  `${to`/projects/${params.project}/lists/${load.data.list}`}?segment=${load.data.id}`,
                )}
              >
                See who is in it
              </ButtonLink>
              <ActionButton act={remove} done="The segment is deleted">
                Delete
              </ActionButton>
            </>
          )
        }
      />
      <Loaded load={load}>
        {(segment) => (
          <SegmentForm
            // Another version needs fields of its own.
            key={segment.updated_at}
            project={params.project}
            of={segment}
            version={load.etag}
            submit="Save the segment"
            onCancel={() => navigate(all)}
            onSave={async (_list, written, { version }) => {
              await call('PATCH /projects/{project}/email-segments/{segment}', {
                path: params,
                if_match: version,
                body: written,
              });
              toast('The segment is saved');
              load.reload();
            }}
          />
        )}
      </Loaded>
    </>
  );
}
