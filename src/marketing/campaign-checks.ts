/**
 * What `satchel doctor` asks of sequences and broadcasts: which ones paused by themselves, or could not
 * begin.
 */
import type { Projects } from '../access/projects/service.ts';
import { type HealthCheck, ok, warning } from '../platform/host/health-check.ts';

interface Pausing {
  readonly what: 'sequence' | 'broadcast';
  listPausedByThemselves(): { id: string; name: string; project_id: number; why: string }[];
}
interface Needs {
  sequences: Pausing;
  broadcasts: Pausing;
  projects: Projects;
}

export function campaignChecks({ sequences, broadcasts, projects }: Needs): HealthCheck[] {
  const checkOf = (campaigns: Pausing, mend: string): HealthCheck => {
    const check = `${campaigns.what}s`;
    return {
      check,
      run() {
        const paused = campaigns.listPausedByThemselves().map(({ id, name, project_id, why }) => {
          const slug = projects.findById(project_id)?.slug ?? '';
          const message = `The ${campaigns.what} ${name} of the project ${slug} has paused: ${why}`;
          return warning(check, message, `${mend} ${id}`);
        });
        return paused.length > 0 ? paused : [ok(check, 'None has paused by itself.')];
      },
    };
  };
  return [checkOf(sequences, 'satchel sequence why'), checkOf(broadcasts, 'satchel broadcast resume')];
}
