/** What doctor asks of the vault: values that do not decrypt, and values that should not be in use. */

import type { Projects } from '../../access/projects/service.ts';
import { about, type HealthCheck, sealedCheck, warning } from '../../platform/host/health-check.ts';
import type { Vault } from './service.ts';

export function vaultChecks({ vault, projects }: { vault: Vault; projects: Projects }): HealthCheck[] {
  return [
    sealedCheck(() =>
      projects.listAll({}).flatMap((project) =>
        vault.listUndecryptable(project).map(({ service, field }) => ({
          message: `The vault value ${service}.${field} of project ${project.slug} does not decrypt.`,
          remedy: `satchel vault set --project ${project.slug} ${service} ${field}=-`,
          about: { code: 'vault', ref: project.slug },
        })),
      ),
    ),
    {
      check: 'captcha',
      run: () =>
        vault
          .warnings(projects.listAll({}))
          .map(({ slug, message }) =>
            about(
              'vault',
              slug,
              warning('captcha', message, `satchel vault set --project ${slug} captcha secret_key=-`),
            ),
          ),
    },
  ];
}
