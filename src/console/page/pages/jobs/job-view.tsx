/** A job, on its page: how far it is, how it ended, and what came of it. */
import type { Job } from '../../api.generated.ts';
import { Facts, Loaded, Notice, PageHeader, Panel } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { type Load, useLoad } from '../../use-load.ts';
import { tellKind } from './kinds.tsx';

const UNDER_WAY_MS = 2000;

/** The time until the next look at it; null for no more. */
function everyMs({ status }: Job): number | null {
  return status === 'pending' || status === 'processing' ? UNDER_WAY_MS : null;
}

/** `project`: where what its result names has its pages; of a job of all, there is none. */
function JobView(props: { load: Load<Job>; list: string; project?: string }) {
  const { load, list, project } = props;
  const { data: shown } = load;
  return (
    <>
      <PageHeader
        title={shown ? tellKind(shown.type) : 'Job'}
        back={{ href: hrefOf(list), label: 'Jobs' }}
        beside={shown && <Status of={shown.status} />}
      />
      <Loaded load={load}>
        {(job) => (
          <div class="stack">
            {job.error !== null && (
              <Notice tone="bad">
                <strong>{job.status === 'failed' ? 'It failed:' : 'An attempt failed:'}</strong>{' '}
                <span class="said">{job.error}</span>
              </Notice>
            )}
            <div class="columns">
              <About of={job} />
              {job.result && <Result project={project} of={job.result} />}
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

function About({ of }: { of: Job }) {
  return (
    <Panel title="About">
      <Facts
        of={[
          ['Attempts', <Count key="attempts" of={of.attempts} />],
          ['Queued', <Time key="queued" at={of.queued_at} exact />],
          ['Started', <Time key="started" at={of.started_at} exact />],
          ['Finished', <Time key="finished" at={of.finished_at} exact />],
          ['Id', <code key="id">{of.id}</code>],
        ]}
      />
    </Panel>
  );
}

/** Pages that ids in a result lead to, by the names of the ids. */
const PLACES: Readonly<Record<string, string>> = {
  email_id: 'emails',
  email_ids: 'emails',
  schedule_id: 'schedules',
  import_id: 'imports',
};

interface ResultProps<T> {
  project: string | undefined;
  of: T;
}

function Result({ project, of }: ResultProps<Readonly<Record<string, unknown>>>) {
  return (
    <Panel title="Result">
      <Facts
        of={Object.entries(of).map(([name, value]) => [
          name.replaceAll('_', ' '),
          <Value key={name} project={project} name={name} of={value} />,
        ])}
      />
    </Panel>
  );
}

function Value({ project, name, of }: ResultProps<unknown> & { name: string }) {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  if (Array.isArray(of)) {
    if (of.length === 0) return <>None</>;
    return (
      <ul>
        {of.map((each, index) => (
          <li key={index}>
            <Value project={project} name={name} of={each} />
          </li>
        ))}
      </ul>
    );
  }
  if (project !== undefined && place !== undefined && typeof of === 'string')
    return <a href={hrefOf(to`/projects/${project}/${place}/${of}`)}>{of}</a>;
  return <span class="said">{typeof of === 'string' ? of : JSON.stringify(of, null, 1)}</span>;
}

/** One job of a project, with links to what it is of. */
export function ProjectJobPage({ params }: PageProps<'project' | 'job'>) {
  const { project, job: job_id } = params;
  const load = useLoad(
    'GET /projects/{project}/jobs/{job_id}',
    { path: { project, job_id } },
    { every_ms: everyMs },
  );
  return <JobView load={load} list={to`/projects/${project}/jobs`} project={project} />;
}

/** One job, whatever its project. */
export function JobPage({ params }: PageProps<'job'>) {
  const load = useLoad('GET /jobs/{job}', { path: params }, { every_ms: everyMs });
  return <JobView load={load} list="/jobs" />;
}
