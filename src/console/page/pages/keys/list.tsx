/** The keys of a project. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';

export default function KeysPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/api-keys', { path: params });
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/keys/new`)}>
      <Icon name="plus" />
      New key
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Keys"
        lead="What an app shows with each request, in X-API-Key. Give each place its own, with no more than it needs."
        actions={create}
      />
      <DataTable
        label="Keys"
        list={list}
        keyOf={(key) => key.id}
        href={(key) => hrefOf(to`/projects/${params.project}/keys/${key.id}`)}
        columns={[
          { title: 'Name', cell: (key) => key.name },
          {
            title: 'What it is for',
            cell: (key) => key.purpose,
          },
          { title: 'Last used', cell: (key) => <Time at={key.last_used_at} none="never used" /> },
          { title: 'Begins with', cell: (key) => <code>{key.key_prefix}…</code> },
          {
            title: 'Status',
            cell: (key) => (
              <span class="badges">
                <Status of={key.is_active ? 'active' : 'inactive'} />
                {key.is_test && <Badge tone="accent">test</Badge>}
              </span>
            ),
          },
        ]}
        empty={
          <Empty
            drawing="key"
            title="No key yet"
            command={`satchel key create --project ${params.project} --name web --can read,write`}
          >
            <p>
              Make the first, put it into the app's environment, and the app can store files and send mail.
            </p>
            {create}
          </Empty>
        }
      />
    </>
  );
}
