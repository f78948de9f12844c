/** The people who may sign in. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList } from '../../use-load.ts';
import { type Holder, tellRole } from './roles.ts';

export default function PeoplePage() {
  const list = useList('GET /people', {});
  const add = (
    <ButtonLink kind="primary" href={hrefOf('/people/new')}>
      <Icon name="plus" />
      Add a person
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="People"
        lead="Who may sign in here, what they may do, and in which projects. Apps and scripts have keys and tokens instead."
        actions={add}
      />
      <DataTable
        label="People"
        list={list}
        keyOf={(each) => each.id}
        href={(each) => hrefOf(to`/people/${each.id}`)}
        columns={[
          {
            title: 'Name',
            cell: (each) => (
              <>
                {each.name}
                {each.name !== each.email && <span class="cell-note any-break">{each.email}</span>}
              </>
            ),
          },
          { title: 'Role', cell: (each) => <RoleOf of={each} /> },
          { title: 'Signed in', cell: (each) => <Time at={each.last_sign_in_at} none="never" /> },
          {
            title: 'Status',
            cell: (each) => (
              <span class="badges">
                <Status of={each.is_active ? 'active' : 'inactive'} />
                {each.totp && <Badge>second step</Badge>}
                {each.id === person.value?.id && <Badge tone="accent">you</Badge>}
              </span>
            ),
          },
        ]}
        empty={
          <Empty
            drawing="people"
            title="Nobody on this page"
            command="satchel person add bob@example.com --project shop"
          >
            {add}
          </Empty>
        }
      />
    </>
  );
}

interface Scope {
  all_projects: boolean;
  projects?: readonly { name: string }[];
}

/** "Works in projects", and below it "Shop and Bakery". */
export function RoleOf({ of }: { of: Holder & Scope }) {
  const { all_projects, projects = [] } = of;
  const names = projects.map(({ name }) => name);
  const where = all_projects
    ? 'all projects'
    : names.length > 2
      ? counted(names.length, 'project')
      : names.join(' and ') || 'no project';
  return (
    <>
      {tellRole(of)}
      <span class="cell-note" title={names.join(', ')}>
        {where}
      </span>
    </>
  );
}
