/** The jobs of a project: work that goes on beside requests, and how it ended. */
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { JOB_COLUMNS, JOB_STATUSES, PROJECT_KINDS, tellKind } from '../jobs/kinds.tsx';

export default function ProjectJobsPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/jobs', { path: params }, { filters: ['status', 'type'] });
  return (
    <>
      <PageHeader
        title="Jobs"
        lead="Work that goes on beside requests: mails on their way, runs of schedules, imports. What failed for a while is tried again by itself."
      />
      <Filters>
        <ChoiceFilter name="type" label="Kind" choices={PROJECT_KINDS} tell={tellKind} />
        <ChoiceFilter name="status" label="Status" choices={JOB_STATUSES} />
      </Filters>
      <DataTable
        label="Jobs"
        list={list}
        keyOf={(job) => job.id}
        href={(job) => hrefOf(to`/projects/${params.project}/jobs/${job.id}`)}
        columns={JOB_COLUMNS}
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
