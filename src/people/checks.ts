/** What `satchel doctor` asks of people: second steps that do not decrypt. */
import { shellWord } from '../platform/cli/shell-words.ts';
import { type HealthCheck, sealedCheck } from '../platform/host/health-check.ts';
import type { People } from './service.ts';

export function peopleChecks({ people }: { people: People }): HealthCheck[] {
  return [
    sealedCheck('Second steps of people', () =>
      people.listUndecryptable().map(({ email }) => ({
        message: `The secret of the second step of ${email} does not decrypt: only their recovery codes still work.`,
        remedy: `satchel person reset ${shellWord(email)} --totp`,
      })),
    ),
  ];
}
