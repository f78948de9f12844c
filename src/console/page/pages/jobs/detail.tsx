/** One job, whatever its project. */
import type { PageProps } from '../../pages.ts';
import { useLoad } from '../../use-load.ts';
import { everyMs, JobView } from './job-view.tsx';

export default function JobPage({ params }: PageProps<'job'>) {
  const load = useLoad('GET /jobs/{job}', { path: params }, { every_ms: everyMs });
  return <JobView load={load} list="/jobs" />;
}
