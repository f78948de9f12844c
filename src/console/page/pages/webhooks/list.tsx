/** The webhooks of a project: URLs that are told what happens in it. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { nameOf, WebhookState } from './webhook-fields.tsx';

export default function WebhooksPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/webhooks', { path: params });
  const add = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/webhooks/new`)}>
      <Icon name="plus" />
      Add a webhook
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        lead="URLs of yours that are told, by a signed request, when something happens in this project."
        actions={add}
      />
      <DataTable
        label="Webhooks"
        list={list}
        keyOf={(row) => row.id}
        href={(row) => hrefOf(to`/projects/${params.project}/webhooks/${row.id}`)}
        columns={[
          { title: 'Leads to', cell: (row) => <span class="any-break">{nameOf(row)}</span> },
          {
            title: 'Description',
            cell: (row) => <span class="any-break">{row.description ?? '—'}</span>,
          },
          { title: 'Told of', cell: (row) => row.types?.join(', ') ?? 'all' },
          { title: 'Status', cell: (row) => <WebhookState of={row} /> },
          { title: 'Added', cell: (row) => <Time at={row.created_at} /> },
        ]}
        empty={
          <Empty
            drawing="mail"
            title="No webhook yet"
            command={`satchel webhook add https://shop.example.com/hooks --project ${params.project}`}
          >
            <p>Add one so that your app hears of a bounce, a new file or a sign-up without asking.</p>
            {add}
          </Empty>
        }
      />
    </>
  );
}
