/** One job of a project: how far it is, how it ended, and the mails that it is of. */
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../api.generated.ts';
import { Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

const UNDER_WAY_MS = 2000;

export default function ProjectJobPage({ params }: PageProps<'project' | 'job'>) {
  const { project } = params;
  const [every_ms, setEvery] = useState<number | null>(null);
  const path = { project, job_id: params.job };
  const load = useLoad('GET /projects/{project}/jobs/{job_id}', { path }, { every_ms });
  const status = load.data?.status;
  useEffect(() => setEvery(status === 'pending' || status === 'processing' ? UNDER_WAY_MS : null), [status]);
  return (
    <>
      <PageHeader
        title={load.data?.type ?? 'Job'}
        back={{ href: hrefOf(to`/projects/${project}/jobs`), label: 'Jobs' }}
        beside={status && <Status of={status} />}
      />
      <Loaded load={load}>
        {(job) => (
          <div class="stack">
            {job.error !== null && (
              <div class="notice bad">
                <p>{job.error}</p>
              </div>
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

/** What the ids in a result name, by the name that they have there. */
const PLACES: Readonly<Record<string, string>> = {
  ...{ email_id: 'emails', email_ids: 'emails', schedule_id: 'schedules', import_id: 'imports' },
};

function Result({ project, of }: { project: string; of: Readonly<Record<string, unknown>> }) {
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

function Value({ project, name, of }: { project: string; name: string; of: unknown }) {
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
  if (place !== undefined && typeof of === 'string')
    return <a href={hrefOf(to`/projects/${project}/${place}/${of}`)}>{of}</a>;
  return <>{typeof of === 'string' || typeof of === 'number' ? of : JSON.stringify(of)}</>;
}
