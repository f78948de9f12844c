/** The health check of accounts' secrets, in the same words for every kind of account. */
import { type HealthCheck, sealedCheck } from '../host/health-check.ts';
import { PLANE_PREFIX } from '../http/routes.ts';
import type { LostSecret } from './account-secrets.ts';

export function accountSecretsCheck(what: string, listLost: () => LostSecret[]): HealthCheck {
  return sealedCheck(what, () =>
    listLost().map(({ kind, id, name, field }) => ({
      message: `The ${field} of the ${kind.replaceAll('_', ' ')} ${id} (${name}) does not decrypt.`,
      remedy: `store it again: PATCH ${PLANE_PREFIX.management}/${kind.replaceAll('_', '-')}s/${id} with ${field}`,
    })),
  );
}
