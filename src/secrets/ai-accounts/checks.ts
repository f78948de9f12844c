/** What `satchel doctor` asks of AI accounts: keys that do not decrypt. */
import type { HealthCheck } from '../../platform/host/health-check.ts';
import { accountSecretsCheck } from '../../platform/secrets/account-checks.ts';
import type { AiAccounts } from './service.ts';

export function aiAccountChecks({ ai_accounts }: { ai_accounts: AiAccounts }): HealthCheck[] {
  return [accountSecretsCheck('Keys of AI accounts', () => ai_accounts.listUndecryptable())];
}
