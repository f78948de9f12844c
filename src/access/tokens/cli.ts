/** `satchel token`: access tokens of the management plane are made, listed and revoked here. */
import { DEFAULT_TOKEN_DAYS } from '../../limits.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import {
  CAN_HELP,
  collect,
  listOption,
  presentPowers,
  readCapabilities,
  requireScope,
  wholeNumber,
} from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { counted } from '../../platform/words/phrases.ts';
import { newToken, type TokenRecord } from './schemas.ts';
import type { Tokens } from './service.ts';
import { registerTrustCommands } from './trust-cli.ts';
import type { TokenTrusts } from './trusts.ts';

/** Registers `satchel token create | list | revoke | trust`. */
export function registerTokenCommands(cli: Cli<{ tokens: Tokens; token_trusts: TokenTrusts }>): void {
  const token = cli.noun('token');
  token
    .verb('create', 'make a token; it is shown once')
    .takes(fieldsOf(newToken, { name: ['--name <name>', 'what or who it is for'] }), newToken, {
      more: ({ can = [], expiresInDays: expires_in_days, ...options }) => ({
        ...requireScope(options, 'the token'),
        capabilities: can,
        read_only: options.readOnly === true,
        ...(options.environment === undefined ? {} : { environments: listOption(options, 'environment') }),
        expires_in_days,
      }),
      options: {
        projects: '--project',
        environments: '--environment',
        capabilities: '--can',
        expires_in_days: '--expires-in-days',
      },
    })
    .option('--all-projects', 'for every project, later ones too')
    .option('--project <project>', 'for this project (numeric id, ULID or slug); may be repeated', collect)
    .option('--can <capabilities>', CAN_HELP, readCapabilities)
    .option('--read-only', 'it changes nothing')
    .option('--environment <environment>', 'of vaults it knows this one alone; may be repeated', collect)
    .option('--expires-in-days <n>', `days it lives (default: ${DEFAULT_TOKEN_DAYS})`, wholeNumber(1))
    .remark(`Without --can a token manages projects, keys and origins, and nothing else. With administer, which goes with
--all-projects only, it manages what belongs to no project too: domains, mailboxes, people, tokens, backups.
With --environment it knows no other environments of vaults, production neither unless that is named.`)
    .example(
      'satchel token create --name laptop --all-projects --can all',
      'satchel token create --name dashboard --all-projects --read-only',
      'satchel token create --name ci --project shop --can read_vault,reveal_vault --expires-in-days 30',
      'satchel token create --name ci --project shop --can reveal_vault --environment staging',
    )
    .shows(
      async ({ services, actor, sent }) => {
        const { token, record } = await services.tokens.create(actor, sent);
        const { id, name, token_prefix, expires_at } = record;
        return { id, name, token, token_prefix, expires_at };
      },
      ({ id, name, token, expires_at }) =>
        `${token}\n\nToken ${id} (${name}) expires ${expires_at}. This is the only time it is shown.`,
    );
  token
    .verb('list', 'all tokens, newest first')
    .example('satchel token list')
    .lists(
      ({ services, page }) => paginateAll(page, services.tokens.list()),
      (one) =>
        rowOf(
          {
            ...one,
            token: `${one.token_prefix}...`,
            by: one.created_by?.name,
            projects: one.projects ? one.projects.map(({ slug }) => slug).join(',') : 'all',
            can: presentPowers(one),
          },
          'id name token made_by=by revoked=revoked_at expires=expires_at projects can last_used=last_used_at',
        ),
      'There are no tokens. Make one with: satchel token create --name NAME --all-projects',
    );
  token
    .verb('revoke <id>', 'end a token at once')
    .example('satchel token revoke 3 --yes')
    .removes(async ({ services, consent, actor }, _options, id) => {
      if (!/^\d{1,15}$/.test(id))
        throw new UsageError('A token is named by its numeric id; satchel token list shows it.');
      const token = services.tokens.find(Number(id));
      if (token) consent(explainRevoking(token));
      const revoked = await services.tokens.revoke(actor, Number(id));
      return { json: revoked, text: `Token ${revoked.id} (${revoked.name}) is revoked.` };
    });
  registerTrustCommands(token);
}

function explainRevoking({ name, token_prefix, projects, last_used_at }: TokenRecord): string {
  const scope = projects ? counted(projects.length, 'project') : 'every project';
  const used = last_used_at === null ? 'was never used' : `was used last ${last_used_at}`;
  return `ends the token ${name} (${token_prefix}...) for good: it answers for ${scope} and ${used}`;
}
