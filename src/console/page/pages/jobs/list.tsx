/** Jobs of a project, chosen here, and the way to any job by its id. */
import type { ProjectWithKeyCount } from '../../api.generated.ts';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Empty, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, navigate, setQuery, to, useQuery } from '../../router.ts';
import { useList, useLoad } from '../../use-load.ts';
import { JOB_COLUMNS, JOB_STATUSES, PROJECT_KINDS, tellKind } from './kinds.tsx';

/** The most that the API answers at once; further ones are reached by the address. */
const MAX_PROJECTS = 100;

export default function JobsPage() {
  const load = useLoad('GET /projects', { query: { per_page: MAX_PROJECTS } });
  const open = async (entered: Entered): Promise<void> => navigate(to`/jobs/${entered.text('job')}`);
  return (
    <>
      <PageHeader
        title="Jobs"
        lead="Work that goes on beside requests: mails on their way, imports, scheduled sends, backups. What failed for a while is tried again by itself."
      />
      <div class="stack">
        <Loaded load={load}>
          {({ data: projects }) => {
            const [first] = projects;
            return first ? <Jobs projects={projects} first={first.slug} /> : <NoJobs />;
          }}
        </Loaded>
        <Panel title="Open a job" lead="By the id that an answer or an import named. A backup has one, too.">
          <Form is_fleeting is_for_readers submit="Open" onSubmit={open}>
            <TextField name="job" label="Id of the job" placeholder="01KCM2V5T0Q8W3X6Y9Z1A4B7CD" is_mono />
          </Form>
        </Panel>
      </div>
    </>
  );
}

function NoJobs() {
  return (
    <div class="panel">
      <Empty drawing="chart" title="No job yet">
        <p>Each mail that an app queues, and each import, is a job of its project.</p>
      </Empty>
    </div>
  );
}

function Jobs({ projects, first }: { projects: readonly ProjectWithKeyCount[]; first: string }) {
  const project = useQuery().get('project') ?? first;
  const list = useList(
    'GET /projects/{project}/jobs',
    { path: { project } },
    { filters: ['status', 'type'] },
  );
  const is_listed = projects.some(({ slug }) => slug === project);
  return (
    <div>
      <Filters>
        <select
          class="input"
          aria-label="Project"
          value={project}
          onChange={(event) => setQuery({ project: event.currentTarget.value })}
        >
          {!is_listed && <option value={project}>{project}</option>}
          {projects.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </select>
        <ChoiceFilter name="type" label="Kind" choices={PROJECT_KINDS} tell={tellKind} />
        <ChoiceFilter name="status" label="Status" choices={JOB_STATUSES} />
      </Filters>
      <DataTable
        label="Jobs"
        list={list}
        keyOf={(job) => job.id}
        href={(job) => hrefOf(to`/jobs/${job.id}`)}
        columns={JOB_COLUMNS}
        empty={<NoJobs />}
      />
    </div>
  );
}
