/** The jobs of a project: work that goes on beside requests, and how it ended. */
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-list.ts';

const STATUSES = ['pending', 'processing', 'completed', 'failed'];
const TYPES = ['email.send', 'schedule.run', 'email.import', 'email.subscribe', 'sequence.step'];

export default function ProjectJobsPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/jobs', { path: params }, { filters: ['status', 'type'] });
  return (
    <>
      <PageHeader
        title="Jobs"
        lead="Work that goes on beside requests: mails on their way, runs of schedules, imports. What failed for a while is tried again by itself."
      />
      <Filters>
        <ChoiceFilter name="type" label="Kind" choices={TYPES} />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      </Filters>
      <DataTable
        label="Jobs"
        list={list}
        keyOf={(job) => job.id}
        href={(job) => hrefOf(to`/projects/${params.project}/jobs/${job.id}`)}
        columns={[
          { title: 'Kind', cell: (job) => job.type },
          { title: 'Status', cell: (job) => <Status of={job.status} /> },
          { title: 'Attempts', is_number: true, cell: (job) => <Count of={job.attempts} /> },
          { title: 'Queued', cell: (job) => <Time at={job.queued_at} /> },
          { title: 'Finished', cell: (job) => <Time at={job.finished_at} /> },
        ]}
        empty={
          <Empty drawing="chart" title="No job yet">
            <p>
              Each mail, each run of a schedule and each import is a job, and stands here while it is kept.
            </p>
          </Empty>
        }
      />
    </>
  );
}
