/** The segments of a project: filters of its lists that were kept. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useAll, useList } from '../../use-load.ts';

export default function SegmentsPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/email-segments', { path: params });
  const lists = useAll('GET /projects/{project}/email-lists', { path: params });
  const names = new Map(lists.data?.map(({ id, name }) => [id, name]));
  const make = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/segments/new`)}>
      <Icon name="plus" />
      New segment
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Segments"
        lead="People of a list by what they are, did and got. Who is in a segment is asked anew each time it is used."
        actions={make}
      />
      <DataTable
        label="Segments"
        list={list}
        keyOf={({ id }) => id}
        href={({ id }) => hrefOf(to`/projects/${params.project}/segments/${id}`)}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          {
            title: 'Who is in it',
            cell: ({ filter_sentence }) => <span class="said">{filter_sentence}</span>,
          },
          { title: 'List', cell: ({ list: id }) => names.get(id) ?? <span class="muted">—</span> },
          { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
        empty={
          <Empty drawing="people" title="No segments yet">
            <p>Those who bought and went quiet, those of one town, those who got your last letter.</p>
            {make}
          </Empty>
        }
      />
    </>
  );
}
