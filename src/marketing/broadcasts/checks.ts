/** What `satchel doctor` asks of broadcasts: those that paused by themselves, or could not begin. */
import type { Projects } from '../../access/projects/service.ts';
import { type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import type { Broadcasts } from './service.ts';

const CHECK = 'broadcasts';

export function broadcastChecks({
  broadcasts,
  projects,
}: {
  broadcasts: Broadcasts;
  projects: Projects;
}): HealthCheck[] {
  return [
    {
      check: CHECK,
      run() {
        const paused = broadcasts.listPausedByThemselves().map(({ id, name, project_id, why }) => {
          const slug = projects.findById(project_id)?.slug ?? '';
          const message = `The broadcast ${name} of the project ${slug} has paused: ${why}`;
          return warning(CHECK, message, `satchel broadcast resume ${id}`);
        });
        return paused.length > 0 ? paused : [ok(CHECK, 'None has paused by itself.')];
      },
    },
  ];
}
