/** `satchel token trust`: whose OIDC tokens are changed for access tokens. */
import { fieldsOf } from '../../platform/cli/fields.ts';
import {
  CAN_HELP,
  collect,
  listOption,
  presentPowers,
  readCapabilities,
  wholeNumber,
} from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { flagsOf } from '../../platform/http/capabilities.ts';
import { DEFAULT_MINUTES, newTrust } from './trust-schemas.ts';
import type { TokenTrusts } from './trusts.ts';

/** Registers `satchel token trust add | list | remove`. */
export function registerTrustCommands(token: Noun<{ token_trusts: TokenTrusts }>): void {
  const trust = token.noun('trust', 'whose OIDC tokens are changed for access tokens, such as those of a CI');
  trust
    .verb('add', 'trust the tokens of an issuer that fit')
    .takes(
      fieldsOf(newTrust, {
        name: ['--name <name>', 'what or who it is for; its tokens bear it'],
        issuer: ['--issuer <url>', 'iss of its tokens, exactly'],
        subject: ['--subject <pattern>', 'sub of its tokens; * is one or more characters but : and /'],
        audience: ['--audience <audience>', 'what aud must name (default: PUBLIC_URL)'],
        claims: ['--claim <name=pattern>', 'another claim that must fit; may be repeated'],
      }),
      newTrust,
      {
        more: ({ can = [], readWrite, minutes, ...options }) => ({
          projects: listOption(options, 'project'),
          ...flagsOf(Array.isArray(can) ? can : []),
          read_only: readWrite !== true,
          ...(options.environment === undefined ? {} : { environments: listOption(options, 'environment') }),
          minutes,
        }),
        options: {
          projects: '--project',
          environments: '--environment',
          read_only: 'a trust without --read-write',
          minutes: '--minutes',
        },
        errorsIn: (sound, { services }) => services.token_trusts.errorsIn(sound),
      },
    )
    .requiredOption('--project <project>', 'its tokens are for this project; may be repeated', collect)
    .option('--can <capabilities>', CAN_HELP, readCapabilities)
    .option('--environment <environment>', 'of vaults they know this one alone; may be repeated', collect)
    .option('--read-write', 'they may change things, the project itself too')
    .option('--minutes <n>', `minutes they live, 60 at most (default: ${DEFAULT_MINUTES})`, wholeNumber(1))
    .example(
      'satchel token trust add --name ci --issuer https://token.actions.githubusercontent.com --subject repo:acme/shop:ref:refs/heads/main --project shop --can read_vault,reveal_vault',
    )
    .shows(
      ({ services, actor, sent }) => services.token_trusts.add(actor, sent, null),
      ({ id, name, audience }) => `Trust ${id} (${name}) takes tokens whose audience is ${audience}.`,
    );
  trust
    .verb('list', 'all trusts, newest first')
    .example('satchel token trust list')
    .lists(
      ({ services, page }) => services.token_trusts.list(page),
      (one) =>
        rowOf(
          {
            ...one,
            projects: one.projects.map(({ slug }) => slug).join(','),
            can: presentPowers(one),
            refused: one.last_refused && `${one.last_refused.at}: ${one.last_refused.reason}`,
          },
          'id name issuer subject projects can minutes last_used=last_used_at last_refused=refused',
        ),
      'There are no trusts. Make one with: satchel token trust add --name NAME --issuer URL --subject PATTERN --project REF',
    );
  trust
    .verb('remove <id>', 'trust no more; its tokens end at once')
    .example('satchel token trust remove 3 --yes')
    .removes(async ({ services, consent, actor }, _options, id) => {
      const found = services.token_trusts.require(id);
      consent(`removes the trust ${found.name} (${found.issuer}) and ends its tokens at once`);
      const json = await services.token_trusts.remove(actor, found);
      return { json, text: `Trust ${found.id} (${found.name}) is removed.` };
    });
}
