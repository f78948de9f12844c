/** What `satchel doctor` asks of marketing: whether links lead anywhere, and whether keys open. */

import type { Projects } from '../../access/projects/service.ts';
import { type HealthCheck, problem, sealedCheck } from '../../platform/host/health-check.ts';
import type { MarketingSettings } from './service.ts';

export function marketingChecks({
  marketing,
  projects,
  lists,
}: {
  marketing: MarketingSettings;
  projects: Projects;
  lists: { problemOfConfirmations(project_id: number): string | null };
}): HealthCheck[] {
  return [
    {
      check: 'public URL',
      run() {
        const told = projects
          .listAll({})
          .map(({ id }) => marketing.problemOfLinks(id) ?? lists.problemOfConfirmations(id));
        const words = told.find((one) => one !== null);
        const remedy =
          'set SATCHEL_PUBLIC_URL to the address by which readers reach this server, and start it again';
        return words ? [problem('public URL', words, remedy)] : [];
      },
    },
    sealedCheck(() =>
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
