/** The sequences of a project, with their numbers, which move by themselves. */
import type { Sequence } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { Lacking } from '../marketing/lacking.tsx';

export default function SequencesPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/email-sequences', { path: params }, { filters: ['status'] });
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/sequences/new`)}>
      <Icon name="plus" />
      New sequence
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Sequences"
        lead="Mails that follow one another, for the contacts of a list: each when its time has come and its condition holds."
        actions={create}
      />
      <Lacking project={params.project} />
      <Filters>
        <ChoiceFilter name="status" label="Status" choices={['draft', 'active', 'paused', 'finished']} />
      </Filters>
      <DataTable
        label="Sequences"
        list={list}
        keyOf={(sequence) => sequence.id}
        href={(sequence) => hrefOf(to`/projects/${params.project}/sequences/${sequence.id}`)}
        columns={[
          { title: 'Name', cell: (sequence) => sequence.name },
          { title: 'Status', cell: (sequence) => <SequenceStatus of={sequence} /> },
          { title: 'Steps', is_number: true, cell: ({ steps }) => <Count of={steps.length} /> },
          { title: 'Enrolled', is_number: true, cell: ({ stats }) => <Count of={stats.enrolled} /> },
          { title: 'Under way', is_number: true, cell: ({ stats }) => <Count of={stats.active} /> },
          { title: 'Sent', is_number: true, cell: ({ stats }) => <Count of={stats.sent} /> },
          { title: 'Clicked', is_number: true, cell: ({ stats }) => <Count of={stats.clicked} /> },
          { title: 'Bounced', is_number: true, cell: ({ stats }) => <Count of={stats.bounced} /> },
          { title: 'Changed', cell: (sequence) => <Time at={sequence.updated_at} /> },
        ]}
        empty={
          <Empty drawing="mail" title="No sequence yet">
            <p>
              Write the first: a welcome in three mails, say. It begins as a draft, can be tried without
              sending anything, and tells what is missing before it starts.
            </p>
            {create}
          </Empty>
        }
      />
    </>
  );
}

/** One that paused by itself needs somebody to look at it. */
function SequenceStatus({ of }: { of: Sequence }) {
  if (of.pause_reason === 'bounce_threshold') return <Status of="paused: bounces" tone="bad" />;
  if (of.pause_reason === 'relay_refuses') return <Status of="paused: relay refuses" tone="bad" />;
  if (of.pause_reason === 'restored') return <Status of="paused: restored" tone="warn" />;
  if (of.pause_reason === 'moved') return <Status of="paused: moved" tone="warn" />;
  return <Status of={of.status} />;
}
