/**
 * What `satchel doctor` asks of sequences and broadcasts: which ones paused by themselves, or could not
 * begin, and whose A/B waits for somebody.
 */
import type { Projects } from '../access/projects/service.ts';
import { act, type HealthCheck, ok, warning } from '../platform/host/health-check.ts';

interface Pausing {
  readonly what: 'sequence' | 'broadcast';
  listPausedByThemselves(): { id: string; name: string; project_id: number; why: string }[];
}
interface Needs {
  sequences: Pausing;
  broadcasts: Pausing & {
    listUndecided(): { id: string; name: string; project_id: number; is_paused: boolean }[];
  };
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
          return warning(check, message, `${mend} ${id}`, [act(`resume_${campaigns.what}`, id, slug)]);
        });
        return paused.length > 0 ? paused : [ok(check, 'None has paused by itself.')];
      },
    };
  };
  const undecided: HealthCheck = {
    check: 'A/B tests',
    run() {
      const waiting = broadcasts.listUndecided().map(({ id, name, project_id, is_paused }) => {
        const slug = projects.findById(project_id)?.slug ?? '';
        const message = `The A/B of the broadcast ${name} of the project ${slug} has waited for three days or more to be decided.`;
        const decide = `satchel broadcast decide ${id} --variant NAME`;
        return is_paused
          ? warning('A/B tests', message, `satchel broadcast resume ${id}`, [
              act('resume_broadcast', id, slug),
            ])
          : warning('A/B tests', message, decide);
      });
      return waiting.length > 0 ? waiting : [ok('A/B tests', 'None waits to be decided for days.')];
    },
  };
  return [
    checkOf(sequences, 'satchel sequence why'),
    checkOf(broadcasts, 'satchel broadcast resume'),
    undecided,
  ];
}
