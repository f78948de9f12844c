/** What `satchel doctor` asks of marketing: keys that do not open, without which no marketing mail goes out. */

import type { Projects } from '../../access/projects/service.ts';
import { type HealthCheck, sealedCheck } from '../../platform/host/health-check.ts';
import type { Marketing } from './service.ts';

export function marketingChecks({
  marketing,
  projects,
}: {
  marketing: Marketing;
  projects: Projects;
}): HealthCheck[] {
  return [
    sealedCheck('Marketing keys', () =>
      projects
        .listAll({})
        .filter((project) => !marketing.hasUsableKey(project))
        .map((project) => ({
          message: `The marketing key of project ${project.slug} does not open: nobody can be added to its lists or leave them.`,
          remedy: 'satchel restore FILE --yes, with the master key of that backup',
        })),
    ),
  ];
}
