/** What `satchel doctor` asks of database accounts: secrets that do not decrypt. */
import type { HealthCheck } from '../../platform/host/health-check.ts';
import { accountSecretsCheck } from '../../platform/secrets/account-checks.ts';
import type { DatabaseProjects } from './projects.ts';
import type { DatabaseAccounts } from './service.ts';

export function databaseAccountChecks(services: {
  database_accounts: DatabaseAccounts;
  database_projects: DatabaseProjects;
}): HealthCheck[] {
  const { database_accounts, database_projects } = services;
  return [
    accountSecretsCheck('Secrets of database accounts', () => [
      ...database_accounts.listUndecryptable(),
      ...database_projects.listUndecryptable(),
    ]),
  ];
}
