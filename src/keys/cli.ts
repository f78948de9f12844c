/** `satchel key`: making, listing, rotating, revealing, switching and deleting API keys, and why one is refused. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Cli, type CliResult, EXIT } from '../platform/cli/cli.ts';
import { numberOption, requireYes, textOption, wholeNumber } from '../platform/cli/options.ts';
import { formatFields, formatTable } from '../platform/cli/tables.ts';
import type { Actor } from '../platform/http/callers.ts';
import { parse } from '../platform/http/schema.ts';
import type { Projects } from '../projects/service.ts';
import { createKeyBody, type KeyRecord } from './schemas.ts';
import type { KeyRow, Keys } from './service.ts';

type Services = { projects: Projects; keys: Keys };
type Options = Record<string, unknown>;

/** What `--can` calls the permissions, and what they are in the API. */
const ABILITIES = {
  read: { can_read: true },
  write: { can_write: true },
  upload: { permissions: { upload: true } },
  email: { can_send_emails: true },
  email_template: { permissions: { email_template: true } },
  captcha: { permissions: { captcha: true } },
  marketing: { can_manage_email_marketing: true },
} as const;
type Ability = keyof typeof ABILITIES;
const ABILITY_NAMES = Object.keys(ABILITIES).join(', ');

/** Registers `satchel key ...`, and returns the noun for those of a key's origins. */
export function registerKeyCommands(cli: Cli<Services>): Command {
  const key = cli.noun('key', 'API keys of projects, and the origins they are restricted to');
  registerCreate(cli, key);
  registerList(cli, key);
  registerSecrets(cli, key);
  registerSwitches(cli, key);
  return key;
}

function registerCreate(cli: Cli<Services>, key: Command): void {
  cli
    .verb(key, 'create', 'make a key')
    .requiredOption('--project <ref>', 'its project: numeric id, ULID or slug')
    .requiredOption('--name <name>', 'what it is for')
    .option('--can <abilities>', `comma-separated: ${ABILITY_NAMES}`, readAbilities)
    .option('--no-delete', 'with --can write: it deletes no files')
    .option('--restricted', 'accept it only from allowed origins and apps')
    .option('--allow-no-origin', 'with --restricted: accept it from servers, which send no origin, too')
    .option('--rate-limit <n>', 'requests a minute', wholeNumber(1))
    .option('--email-daily-limit <n>', 'emails a UTC day', wholeNumber(0))
    .option('--test', 'a test key: its mail is stored instead of delivered')
    .option('--no-retain', 'keep no copy: it is shown now and can never be revealed')
    .addHelpText(
      'after',
      `
Examples:
  satchel key create --project shop --name server --can read,write,email
  satchel key create --project shop --name website --can upload,captcha --restricted`,
    )
    .action(
      cli.action(async ({ services, actor, note }, options) => {
        const project = services.projects.require(textOption(options, 'project') ?? '');
        const created = await services.keys.create(actor, project, readNewKey(options), {
          retain: options.retain !== false,
        });
        if (created.restricted && !created.allow_no_origin) {
          note(
            `It accepts nothing but global origins so far. Next: satchel key origin add ${created.id} --type domain --value app.example.com`,
          );
        }
        const remark = options.retain === false ? ' No copy is kept: this is the only time it is shown.' : '';
        const text = `${created.plaintext_key}\n\nKey ${created.id} (${created.name}) of ${project.slug}.${remark}`;
        return { json: created, text };
      }),
    );
}

function readAbilities(value: string, previous: Ability[] | undefined): Ability[] {
  const chosen = value
    .split(',')
    .map((word) => word.trim())
    .map((word) => {
      if (!isAbility(word)) throw new InvalidArgumentError(`It takes any of: ${ABILITY_NAMES}.`);
      return word;
    });
  return [...(previous ?? []), ...chosen];
}

function isAbility(word: string): word is Ability {
  return Object.hasOwn(ABILITIES, word);
}

function readNewKey(options: Options) {
  const abilities = Array.isArray(options.can) ? options.can.filter(isAbility) : [];
  let flags: Record<string, unknown> = {};
  let permissions: Record<string, boolean> = {};
  for (const ability of abilities) {
    const granted = ABILITIES[ability];
    if ('permissions' in granted) permissions = { ...permissions, ...granted.permissions };
    else flags = { ...flags, ...granted };
  }
  if (options.delete === false) permissions = { ...permissions, delete: false };
  return parse(createKeyBody, {
    ...flags,
    permissions,
    name: textOption(options, 'name'),
    restricted: options.restricted === true,
    allow_no_origin: options.allowNoOrigin === true,
    is_test: options.test === true,
    rate_limit_per_minute: numberOption(options, 'rateLimit'),
    email_daily_limit: numberOption(options, 'emailDailyLimit'),
  });
}

function registerList(cli: Cli<Services>, key: Command): void {
  cli
    .verb(key, 'list', 'the keys of a project, newest first')
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .addHelpText('after', '\nExample:\n  satchel key list --project shop')
    .action(
      cli.action(async ({ services }, options) => {
        const project = services.projects.require(textOption(options, 'project') ?? '');
        const keys = services.keys.listAll(project);
        const rows = keys.map((one) => [
          one.id,
          one.name,
          `${one.key_prefix}...`,
          abilitiesOf(one).join(','),
          one.restricted ? `to ${one.origins_count} of its own` : 'no',
          one.is_test,
          one.is_active,
        ]);
        const titles = ['id', 'name', 'key', 'can', 'restricted', 'test', 'active'];
        const empty = `There are no keys. Make one with: satchel key create --project ${project.slug} --name NAME --can read`;
        return { json: keys, text: formatTable(titles, rows, empty) };
      }),
    );
}

function abilitiesOf(key: KeyRecord): string[] {
  const flags: [string, boolean][] = [
    ['read', key.can_read],
    ['write', key.can_write],
    ['email', key.can_send_emails],
    ['marketing', key.can_manage_email_marketing],
    ['no-delete', key.can_write && key.permissions.delete === false],
    ...Object.entries(key.permissions).filter(([name]) => name !== 'delete'),
  ];
  return flags.filter(([, is_on]) => is_on).map(([name]) => name);
}

function registerSecrets(cli: Cli<Services>, key: Command): void {
  cli
    .verb(key, 'rotate <id>', 'give a key a new secret; the old one stops at once')
    .addHelpText('after', '\nExample:\n  satchel key rotate 12')
    .action(
      cli.action(async ({ services, actor }, _options, id = '') => {
        const rotated = await services.keys.rotate(actor, services.keys.require(id));
        const text = `${rotated.plaintext_key}\n\nKey ${rotated.id} (${rotated.name}) has a new secret; the old one has stopped.`;
        return { json: rotated, text };
      }),
    );
  cli
    .verb(key, 'reveal <id>', 'show the secret of a key; recorded in the audit trail')
    .addHelpText('after', '\nExample:\n  satchel key reveal 12')
    .action(
      cli.action(async ({ services, actor }, _options, id = '') => {
        const revealed = await services.keys.reveal(actor, services.keys.require(id));
        return { json: revealed, text: revealed.plaintext_key };
      }),
    );
  cli
    .verb(key, 'why <id>', 'which rule of a key accepts a request, or why none does')
    .option('--origin <origin>', 'the Origin that the browser sends')
    .option('--app-id <app>', 'the X-App-Id that the app sends')
    .option('--cert <fingerprint>', 'the X-Android-Cert that the app sends')
    .addHelpText(
      'after',
      `
With neither --origin nor --app-id it tells of a request from a server, which sends neither.
Exit status: 0 when the request is accepted, 1 when it is refused.

Examples:
  satchel key why 12 --origin https://app.example.com
  satchel key why 12 --app-id com.example.app --cert DA39A3EE5E6B4B0D3255BFEF95601890AFD80709`,
    )
    .action(
      cli.action(async ({ services }, options, id = '') =>
        explain(services.keys, services.keys.require(id), options),
      ),
    );
}

function explain(keys: Keys, key: KeyRow, options: Options): CliResult {
  const decision = keys.why(key, {
    origin: textOption(options, 'origin') ?? null,
    app_id: textOption(options, 'appId') ?? null,
    android_package: null,
    cert: textOption(options, 'cert') ?? null,
  });
  const { why } = decision;
  if (!decision.accepted) {
    const json = { accepted: false, code: decision.code, why, rule: null };
    return { json, text: `Refused. ${why}`, exit: EXIT.refused };
  }
  const { rule, scope } = decision;
  const named = rule && { id: rule.id, type: rule.type, value: rule.value, scope };
  return { json: { accepted: true, code: null, why, rule: named }, text: `Accepted. ${why}` };
}

function registerSwitches(cli: Cli<Services>, key: Command): void {
  const change = async (keys: Keys, actor: Actor, id: string, is_active: boolean): Promise<CliResult> => {
    const changed = await keys.update(actor, keys.require(id), { is_active });
    const { name, key_prefix } = changed;
    return {
      json: changed,
      text: formatFields({ id: changed.id, name, key: `${key_prefix}...`, active: changed.is_active }),
    };
  };
  cli
    .verb(key, 'activate <id>', 'accept a key again')
    .addHelpText('after', '\nExample:\n  satchel key activate 12')
    .action(cli.action(({ services, actor }, _options, id = '') => change(services.keys, actor, id, true)));
  cli
    .verb(key, 'deactivate <id>', 'refuse a key from now on; it can be activated again')
    .addHelpText('after', '\nExample:\n  satchel key deactivate 12')
    .action(cli.action(({ services, actor }, _options, id = '') => change(services.keys, actor, id, false)));
  cli
    .verb(key, 'delete <id>', 'delete a key and its origins')
    .option('--yes', 'really do it')
    .addHelpText('after', '\nExample:\n  satchel key delete 12 --yes')
    .action(
      cli.action(async ({ services, actor }, options, id = '') => {
        const named = services.keys.require(id);
        requireYes(options, `deletes the key ${named.name} (${named.key_prefix}...) for good`);
        const deleted = await services.keys.remove(actor, named);
        return { json: deleted, text: `Key ${named.id} (${named.name}) is deleted.` };
      }),
    );
}
