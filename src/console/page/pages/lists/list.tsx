/** The lists of a project, each with how many are on it. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Filters } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, setQuery, to, useQuery } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { Lacking } from '../marketing/lacking.tsx';

export default function ListsPage({ params }: PageProps<'project'>) {
  const { project } = params;
  const list = useList(
    'GET /projects/{project}/email-lists',
    { path: params },
    { filters: ['include_archived'] },
  );
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${project}/lists/new`)}>
      <Icon name="plus" />
      New list
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Lists"
        lead="People who get mail for one purpose, each with the evidence of why they may be mailed."
        actions={create}
      />
      <Lacking project={project} />
      <ArchivedFilter />
      <DataTable
        label="Lists"
        list={{ ...list, is_filtered: false }}
        keyOf={(row) => row.id}
        href={(row) => hrefOf(to`/projects/${project}/lists/${row.id}`)}
        columns={[
          { title: 'Name', cell: (row) => row.name },
          {
            title: 'Sign-up',
            cell: (row) => (
              <span class="badges">
                <Badge>{row.double_opt_in ? 'double opt-in' : 'single opt-in'}</Badge>
                {row.archived && <Status of="archived" />}
              </span>
            ),
          },
          { title: 'Active', is_number: true, cell: (row) => <Count of={row.active_count} /> },
          { title: 'Contacts', is_number: true, cell: (row) => <Count of={row.contacts_count} /> },
          { title: 'Created', cell: (row) => <Time at={row.created_at} /> },
        ]}
        empty={
          <Empty
            drawing="people"
            title="No list yet"
            command={`satchel list create --project ${project} --name Newsletter`}
          >
            <p>Make one for each purpose: a newsletter, a product's news. Then add people, or import them.</p>
            {create}
          </Empty>
        }
      />
    </>
  );
}

function ArchivedFilter() {
  const is_shown = useQuery().get('include_archived') === 'true';
  return (
    <Filters>
      <label class="toggle">
        <input
          type="checkbox"
          checked={is_shown}
          onChange={(event) => setQuery({ include_archived: event.currentTarget.checked ? 'true' : '' })}
        />
        Archived lists too
      </label>
    </Filters>
  );
}
