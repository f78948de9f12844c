/** The keys of a project. */
import { Badge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Status } from '../../components/status.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-list.ts';
import { abilitiesOf } from './abilities.ts';

export default function KeysPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/api-keys', { path: params });
  const create = (
    <a class="button primary" href={hrefOf(to`/projects/${params.project}/keys/new`)}>
      <Icon name="plus" />
      New key
    </a>
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
          { title: 'Begins with', cell: (key) => <code>{key.key_prefix}…</code> },
          {
            title: 'May',
            cell: (key) => (
              <span class="badges">
                {abilitiesOf(key).map((ability) => (
                  <Badge key={ability}>{ability}</Badge>
                ))}
                {abilitiesOf(key).length === 0 && <span class="muted">nothing</span>}
              </span>
            ),
          },
          {
            title: 'Used from',
            cell: (key) =>
              key.restricted
                ? `${key.origins_count} ${key.origins_count === 1 ? 'origin' : 'origins'}`
                : 'anywhere',
          },
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
