/** What `satchel doctor` asks of sequences: those that paused by themselves, as too much of their mail came back or was refused. */

import type { Projects } from '../../access/projects/service.ts';
import { type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import type { Sequences } from './service.ts';

const CHECK = 'sequences';

export function sequenceChecks({
  sequences,
  projects,
}: {
  sequences: Sequences;
  projects: Projects;
}): HealthCheck[] {
  return [
    {
      check: CHECK,
      run() {
        const paused = sequences.listPausedByThemselves().map(({ id, name, project_id, why }) => {
          const slug = projects.findById(project_id)?.slug ?? '';
          const message = `The sequence ${name} of the project ${slug} has paused: ${why}`;
          return warning(CHECK, message, `satchel sequence why ${id}`);
        });
        return paused.length > 0 ? paused : [ok(CHECK, 'None has paused by itself.')];
      },
    },
  ];
}
