/** The broadcasts of a project, with their numbers, which move by themselves. */
import type { Broadcast } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count, tellShare } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { Lacking } from '../marketing/lacking.tsx';
import { BroadcastStatus } from './part.tsx';

const STATUSES = [
  'draft',
  'scheduled',
  'sending',
  'testing',
  'paused',
  'sent',
  'cancelled',
] as const satisfies Broadcast['status'][];

export default function BroadcastsPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/email-broadcasts', { path: params }, { filters: ['status'] });
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/broadcasts/new`)}>
      <Icon name="plus" />
      New broadcast
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Broadcasts"
        lead="One mail to the people of a list, now or at a time: a newsletter, an announcement."
        actions={create}
      />
      <Lacking project={params.project} />
      <Filters>
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      </Filters>
      <DataTable
        label="Broadcasts"
        list={list}
        keyOf={(broadcast) => broadcast.id}
        href={(broadcast) => hrefOf(to`/projects/${params.project}/broadcasts/${broadcast.id}`)}
        columns={[
          { title: 'Name', cell: (broadcast) => broadcast.name },
          { title: 'Status', cell: (broadcast) => <BroadcastStatus of={broadcast} /> },
          { title: 'When', cell: (broadcast) => <Time at={broadcast.started_at ?? broadcast.send_at} /> },
          { title: 'People', is_number: true, cell: ({ recipients }) => <OrNone of={recipients} /> },
          { title: 'Sent', is_number: true, cell: ({ stats }) => <Count of={stats.sent} /> },
          {
            title: 'Clicked',
            is_number: true,
            cell: ({ stats }) => <WithShare of={stats.clicked} in={stats.sent - stats.untracked} />,
          },
          {
            title: 'Bounced',
            is_number: true,
            cell: ({ stats }) => <WithShare of={stats.bounced} in={stats.sent + stats.lost} />,
          },
        ]}
        empty={
          <Empty title="No broadcast yet">
            <p>
              Write the first: pick a list, write the mail, look at it as its readers will, and see how many
              would get it before anything is sent.
            </p>
            {create}
          </Empty>
        }
      />
    </>
  );
}

function OrNone({ of }: { of: number | null }) {
  return of === null ? <span class="muted">—</span> : <Count of={of} />;
}

function WithShare({ of, in: whole }: { of: number; in: number }) {
  return (
    <>
      <Count of={of} /> <span class="muted">{tellShare(of, whole)}</span>
    </>
  );
}
