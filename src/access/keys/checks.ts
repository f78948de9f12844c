/** What `satchel doctor` asks of API keys: copies that do not decrypt. */
import { type HealthCheck, sealedCheck } from '../../platform/host/health-check.ts';
import type { Projects } from '../projects/service.ts';
import type { Keys } from './service.ts';

export function keyChecks({ keys, projects }: { keys: Keys; projects: Projects }): HealthCheck[] {
  return [
    sealedCheck(() =>
      projects.listAll({}).flatMap((project) =>
        keys.listUndecryptable(project).map((id) => ({
          message: `The copy of API key ${id} of project ${project.slug} does not decrypt.`,
          remedy: `satchel key rotate ${id}`,
        })),
      ),
    ),
  ];
}
