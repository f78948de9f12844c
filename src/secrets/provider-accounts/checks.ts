/** What `satchel doctor` asks of records at providers: secrets that do not decrypt. */
import { type HealthCheck, sealedCheck } from '../../platform/host/health-check.ts';
import { PLANE_PREFIX } from '../../platform/http/routes.ts';
import type { AiAccounts } from './ai-accounts.ts';
import type { DatabaseAccounts } from './database-accounts.ts';
import type { DatabaseProjects } from './database-projects.ts';
import type { LostSecret } from './service.ts';

export function providerAccountChecks(services: {
  database_accounts: DatabaseAccounts;
  database_projects: DatabaseProjects;
  ai_accounts: AiAccounts;
}): HealthCheck[] {
  const { database_accounts, database_projects, ai_accounts } = services;
  return [
    sealedCheck(() =>
      [...database_accounts.listUndecryptable(), ...database_projects.listUndecryptable()].map(tell),
    ),
    sealedCheck(() => ai_accounts.listUndecryptable().map(tell)),
  ];
}

function tell({ kind, id, name, field }: LostSecret): { message: string; remedy: string } {
  return {
    message: `The ${field} of the ${kind.replaceAll('_', ' ')} ${id} (${name}) does not decrypt.`,
    remedy: `store it again: PATCH ${PLANE_PREFIX.management}/${kind.replaceAll('_', '-')}s/${id} with ${field}`,
  };
}
