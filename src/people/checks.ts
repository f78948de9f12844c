/** What `satchel doctor` asks of people: second steps that do not decrypt, and whether strangers are told from them. */
import type { Config } from '../config.ts';
import { shellWord } from '../platform/cli/shell-words.ts';
import { type HealthCheck, ok, sealedCheck, warning } from '../platform/host/health-check.ts';
import type { People } from './service.ts';

export function peopleChecks({ people, config }: { people: People; config: Config }): HealthCheck[] {
  return [
    sealedCheck('Second steps of people', () =>
      people.listUndecryptable().map(({ email }) => ({
        message: `The secret of the second step of ${email} does not decrypt: only their recovery codes still work.`,
        remedy: `satchel person reset ${shellWord(email)} --totp`,
      })),
    ),
    {
      check: 'sign-in',
      run() {
        const is_proxied = config.public_url.startsWith('https:') && config.trusted_proxies.length === 0;
        if (!is_proxied || people.listAll().length === 0) {
          return [ok('sign-in', 'Failures are counted by the addresses that they come from.')];
        }
        const message =
          'SATCHEL_PUBLIC_URL is of a proxy, and no proxy is trusted: everybody has its address, so strangers can use up the ' +
          'tries of those who sign in.';
        return [warning('sign-in', message, 'set SATCHEL_TRUSTED_PROXIES to the address of the proxy')];
      },
    },
  ];
}
