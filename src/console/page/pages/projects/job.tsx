/** One job of a project, with links to what it is of. */
import type { PageProps } from '../../pages.ts';
import { to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { everyMs, JobView } from '../jobs/job-view.tsx';

export default function ProjectJobPage({ params }: PageProps<'project' | 'job'>) {
  const { project, job: job_id } = params;
  const load = useLoad(
    'GET /projects/{project}/jobs/{job_id}',
    { path: { project, job_id } },
    { every_ms: everyMs },
  );
  return <JobView load={load} list={to`/projects/${project}/jobs`} project={project} />;
}
