/** Doctor's checks of people: undecryptable second steps, failed sign-ins, unknown addresses, a welcome token that is over. */
import type { Config } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import {
  aside,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import type { Entry } from './entry.ts';
import type { ToldPasskey } from './passkey-store.ts';
import type { Passkeys } from './passkeys.ts';
import type { People } from './service.ts';
import type { SingleSignOn } from './sso.ts';

export function peopleChecks(on: {
  people: People;
  entry: Pick<Entry, 'sso' | 'passkeys'>;
  config: Config;
}): HealthCheck[] {
  const { people, entry, config } = on;
  return [
    { check: 'single sign-on', run: () => findingsOfSso(entry.sso, config) },
    sealedCheck(() =>
      people.listUndecryptable().map(({ email }) => ({
        message: `The secret of the second step of ${email} does not decrypt: only their recovery codes still work.`,
        remedy: `satchel person reset ${shellWord(email)} --totp`,
        about: { code: 'person', ref: null },
      })),
    ),
    {
      check: 'sign-in',
      run() {
        const is_proxied = config.public_url.startsWith('https:') && !config.tls;
        if (!is_proxied || config.trusted_proxies.length > 0 || people.listAll().length === 0) {
          return [ok('sign-in', 'Failures are counted by the addresses that they come from.')];
        }
        const message =
          'SATCHEL_PUBLIC_URL is of a proxy, and no proxy is trusted: everybody has its address, so strangers can use up the ' +
          'tries of those who sign in.';
        return [warning('sign-in', message, 'set SATCHEL_TRUSTED_PROXIES to the address of the proxy')];
      },
    },
    {
      check: 'welcome token',
      run() {
        if (config.welcome_token === null || !people.hasEverBeenAnybody()) return [];
        const message =
          'There has been a first person: SATCHEL_WELCOME_TOKEN makes nobody any more, and can go.';
        return [ok('welcome token', message, 'remove SATCHEL_WELCOME_TOKEN from the settings')];
      },
    },
    { check: 'passkeys', run: () => findingsOfPasskeys(entry.passkeys) },
    { check: 'failed sign-ins', run: () => describeTroubles(people) },
  ];
}

function describeTroubles(people: People): Finding[] {
  const check = 'failed sign-ins';
  const { locked_out, guessed } = people.listSignInTroubles();
  const findings = [
    ...locked_out.map(({ email, count, networks }) =>
      aside(
        email,
        warning(
          check,
          `${email} was locked out by ${count} failed sign-ins in the last 24 hours, from ${networks.slice(0, 5).join(', ')}` +
            `${networks.length > 5 ? ` and ${networks.length - 5} more` : ''}.`,
          `satchel audit list --event person.sign_in_failed; satchel person reset ${shellWord(email)} lifts it`,
        ),
      ),
    ),
    ...guessed.map(({ email, wrong_codes }) =>
      aside(
        `codes of ${email}`,
        warning(
          check,
          `Somebody who knows the password of ${email} gave ${wrong_codes} wrong codes since the last right one. Were it not they, ` +
            'the password is no secret any more.',
          `ask them; if it was not they: satchel person reset ${shellWord(email)}`,
        ),
      ),
    ),
  ];
  return findings.length > 0 ? findings : [ok(check, 'Nobody was locked out in the last 24 hours.')];
}

/** Whose passkeys work at another host only, and of which there may be a copy. */
function findingsOfPasskeys(passkeys: Passkeys): Finding[] {
  const check = 'passkeys';
  const { host, elsewhere, suspected } = passkeys.listTroubles();
  const lost = Map.groupBy(elsewhere, (one: ToldPasskey) => `${one.email} (${one.host})`);
  return [
    ...[...lost.keys()].map((whose) =>
      aside(
        whose,
        warning(
          check,
          `Passkeys of ${whose} are lost at ${host}: a passkey works at the host of SATCHEL_PUBLIC_URL that it was made at.`,
          'have them sign in otherwise, remove those and add new ones',
        ),
      ),
    ),
    ...suspected.map(({ id, email, name }) =>
      aside(
        id,
        warning(
          check,
          `The counter of the passkey ${name} of ${email} did not go forward: there may be a copy of it, and its sign-in was refused.`,
          `have them remove it and add a new one; if it was not they: satchel person reset ${shellWord(email)}`,
        ),
      ),
    ),
  ];
}

/** Whether the issuer says what it has to, and whether SATCHEL_OIDC_ONLY holds where it is set. */
async function findingsOfSso(sso: SingleSignOn, { oidc }: Config): Promise<Finding[]> {
  const check = 'single sign-on';
  if (!sso.issuer || !oidc) return [];
  const failure = await sso.issuer.discover().then(
    () => null,
    (error: unknown) => messageOf(error),
  );
  const is_only = sso.isOnly();
  const found =
    failure === null
      ? ok(check, `${oidc.issuer} tells how to sign in.`)
      : (is_only ? problem : warning)(
          check,
          `Nobody can sign in by ${oidc.label}: ${failure}.`,
          is_only
            ? 'see to the issuer, or start without SATCHEL_OIDC_ONLY for passwords to count again'
            : 'see to the issuer, or to SATCHEL_OIDC_ISSUER',
        );
  if (!oidc.only || is_only) return [found];
  const message =
    'SATCHEL_OIDC_ONLY does not hold yet: nobody who may administer has signed in by single sign-on, so passwords still count.';
  const remedy = 'have somebody who may administer sign in by it once';
  return [found, aside('only', warning(check, message, remedy))];
}
