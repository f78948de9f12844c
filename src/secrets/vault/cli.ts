/** `satchel vault`: looking at a project's vault and changing it. `reveal-cli.ts` lets secrets out. */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { AppError } from '../../errors.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { readSecretBytes } from '../../platform/cli/input.ts';
import { collect, listOption, type Options, textOptions } from '../../platform/cli/options.ts';
import { formatTable, type Table } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { countedOf, registerDiff, type Services, vaultOf, vaultVerb } from './environment-cli.ts';
import { registerImport } from './import-cli.ts';
import {
  freeFormField,
  requireVaultService,
  VAULT_SERVICES,
  type VaultField,
  type VaultService,
} from './registry.ts';
import { registerReveals, warn } from './reveal-cli.ts';
import type { ServiceMetadata } from './schemas.ts';
import { PRODUCTION } from './stored-fields.ts';
import { registerVersions } from './version-cli.ts';

const MASK = '********';

/** Registers `satchel vault services | show | set | import | reveal | env | run | delete | history | restore | purge | diff`. */
export function registerVaultCommands(cli: Cli<Services>): void {
  const noun = cli.noun('vault');
  noun
    .verb('services', 'every service a vault knows, with its fields')
    .example('satchel vault services')
    .action(cli.plainAction(async () => ({ json: VAULT_SERVICES, text: registryTable() })));
  vaultVerb(noun, 'show [service]', 'what is stored; secrets are masked')
    .example('satchel vault show --project shop', 'satchel vault show --project shop env')
    .does((session, options, name?: string) => {
      const { vault } = session.services;
      const at = vaultOf(session, options);
      if (name === undefined) {
        const all = vault.describe(at);
        return { json: all, text: metadataTable(all) };
      }
      const metadata = vault.describeService(at, requireVaultService(name));
      return { json: metadata, text: metadataTable([metadata]) };
    });
  registerChanges(cli, noun);
  registerImport(cli, noun);
  registerDelete(noun);
  registerReveals(cli, noun);
  registerVersions(noun);
  registerDiff(noun);
}

function registerChanges(cli: Cli<Services>, noun: Noun<Services>): void {
  vaultVerb(noun, 'set <service>', 'store fields of a service; those not named stay as they are')
    .argument(
      '[field=value...]',
      'a secret is best given as field=-, field=@file or field=env:NAME',
      readPair,
    )
    .option('--unset <field>', 'remove a field; may be repeated', collect)
    .option('--plain <names>', 'of env: which names are no secrets; without it each keeps its kind', collect)
    .option('--expires <date>', 'when the values named end, of which doctor and Home remind; or never')
    .option('--note <text>', 'what all who read the vault see of the fields named; empty for none')
    .example(
      'satchel vault set --project shop captcha site_key=0x4AAA secret_key=-',
      'satchel vault set --project shop firebase service_account=@service-account.json',
      'satchel vault set --project shop stripe secret_key=env:STRIPE_SECRET_KEY',
      'satchel vault set --project shop env SESSION_KEY=- TLS_CERT=@cert.pem',
      'satchel vault set --project shop env NEXT_PUBLIC_THEME=dark --plain NEXT_PUBLIC_THEME',
      "satchel vault set --project shop stripe secret_key --expires 2031-03-01 --note 'Ann renews it'",
    )
    .remark(`The service env takes any NAME, at most 200 of them. Each is a secret unless --plain names it; a plain one that begins
with NEXT_PUBLIC_, VITE_ or EXPO_PUBLIC_ is in that target's env block too. A newline at the end of one line that - or @file
gives is taken for the editor's and left out; that of several lines stays. With --expires or --note a field without = keeps its
value; another value ends the old --expires, and keeps the note.`)
    .does(async (session, options, name, ...words) => {
      const { services, actor } = session;
      const at = vaultOf(session, options);
      const service = requireVaultService(name);
      const removed = listOption(options, 'unset');
      const about = readAboutOptions(options, words);
      const pairs = words.filter((word) => word.includes('='));
      if (words.length + removed.length === 0) {
        throw new UsageError('Name what to store as field=value, or what to remove with --unset.');
      }
      if (!service.free_form && pairs.some((pair) => !/^[a-z0-9_]+=/.test(pair)))
        throw new UsageError(`Fields of ${service.service} are written in lower case.`);
      if (pairs.filter((pair) => /^\w+=-$/.test(pair)).length > 1)
        throw new UsageError('Standard input can be the value of one field only.');
      const plain = options.plain === undefined ? undefined : listOption(options, 'plain');
      const known_plain = plain ?? Object.keys(services.vault.describeService(at, service).values);
      const values = new Map<string, unknown>(removed.map((field) => [field, null]));
      for (const pair of pairs) {
        const name = pair.slice(0, pair.indexOf('='));
        const field = service.free_form
          ? freeFormField(name, known_plain.includes(name))
          : service.fields.find((each) => each.field === name);
        values.set(name, await readValue(cli, { service, name, field }, pair.slice(name.length + 1)));
      }
      const sent = Object.fromEntries(values);
      const metadata = await services.vault.set(actor, at, service, sent, { plain, about });
      if (service.service === 'captcha' && at.environment === PRODUCTION)
        warn(
          cli,
          services.vault.warnings([at]).map(({ message }) => message),
        );
      return { json: metadata, text: metadataTable([metadata]) };
    });
}

function registerDelete(noun: Noun<Services>): void {
  vaultVerb(noun, 'delete <service>', 'delete everything stored of a service')
    .example('satchel vault delete --project shop stripe --yes')
    .removes(async (session, options, name) => {
      const { services, project, consent, actor } = session;
      const [at, service] = [vaultOf(session, options), requireVaultService(name)];
      const stored = countedOf(services.vault.count(at, service));
      const of = `${service.service} of the project ${project.slug}`;
      const which = at.environment === PRODUCTION ? of : `${of} (${at.environment})`;
      consent(`deletes ${stored} of ${which}; vault history keeps them for 180 days, until vault purge`);
      const removed = await services.vault.remove(actor, at, service);
      return { json: removed, text: `Deleted of ${service.service}: ${countedOf(removed.cascade)}.` };
    });
}

/** Commander's parser of `field=value` and `field`. Wrong usage is told without what was given: it may be the secret. */
function readPair(value: string, previous: string[] | undefined): string[] {
  if (!/^\w+(=|$)/.test(value)) throw new UsageError(NO_PAIR);
  return [...(previous ?? []), value];
}
const NO_PAIR = 'What to store must have the form field=value.';

/** What --expires and --note say of the fields named. Wrong usage for a field without a value where neither is given. */
function readAboutOptions(options: Options, words: readonly string[]): Record<string, object> | undefined {
  const { expires, note } = textOptions(options, 'expires', 'note');
  if (expires === undefined && note === undefined) {
    if (words.some((word) => !word.includes('='))) throw new UsageError(NO_PAIR);
    return undefined;
  }
  if (words.length === 0) throw new UsageError('Name the fields that --expires and --note are about.');
  const said = {
    ...(expires === undefined ? {} : { expires_at: expires === 'never' ? null : expires }),
    ...(note === undefined ? {} : { note }),
  };
  return Object.fromEntries(words.map((word) => [word.split('=', 1)[0] ?? word, said]));
}

/** The value that an argument stands for. Only secrets draw a warning when they are given as they are. */
async function readValue(
  cli: Cli<Services>,
  { service, name, field }: { service: VaultService; name: string; field: VaultField | undefined },
  argument: string,
): Promise<unknown> {
  const what = `${service.service}.${name}`;
  const is_reference = argument === '-' || argument.startsWith('@') || argument.startsWith('env:');
  if (field?.file) {
    if (!is_reference) throw new UsageError(`${what} is a file: give ${name}=@path or ${name}=-`);
    const bytes = await readSecretBytes(cli, argument, what);
    const filename = argument.startsWith('@') ? basename(argument.slice(1)) : name;
    return { filename, content_base64: Buffer.from(bytes).toString('base64') };
  }
  if (!is_reference && !field?.secret) return argument;
  const bytes = await readSecretBytes(cli, argument, what);
  if (!isUtf8(bytes)) throw new AppError('invalid', `${what} must be text in UTF-8.`);
  const text = Buffer.from(bytes).toString('utf8');
  // Editors and echo end a file with a newline that is no part of the secret. Of several lines it is: a key
  // that OpenSSH reads ends with one.
  const line = text.replace(/\r?\n$/, '');
  return line.includes('\n') ? text : line;
}

function registryTable(): Table {
  const rows = VAULT_SERVICES.flatMap(({ service, fields }) =>
    fields.map((field) => ({
      service,
      field: field.field,
      kind: kindOf(field),
      variable: field.env_key,
      'what it is': field.help_text,
    })),
  );
  const help = 'Variables of your own; see vault set --help.';
  const env = { service: 'env', field: 'any NAME', kind: 'secret or plain', variable: 'its own name' };
  return formatTable([...rows, { ...env, 'what it is': help }], '');
}

function kindOf({ file, secret, client_safe }: VaultField): string {
  if (file) return 'file';
  return secret ? 'secret' : client_safe ? 'client-safe' : 'plain';
}

function metadataTable(services: readonly ServiceMetadata[]): Table {
  const rows = services.flatMap(({ service, values, present, inherited, about, updated_at }) =>
    Object.entries(present)
      .filter(([, is_present]) => is_present)
      .map(([field]) => {
        const value = Object.hasOwn(values, field) ? (values[field] ?? 'does not decrypt') : MASK;
        const { expires_at = null, note = null } = about[field] ?? {};
        const from = inherited.includes(field) ? 'production' : null;
        return { service, field, value, from, expires: expires_at, note, updated: updated_at };
      }),
  );
  // Most vaults have none of these.
  const unused = (['from', 'expires', 'note'] as const).filter((column) => rows.every((row) => !row[column]));
  const shown = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !unused.some((one) => one === column))),
  );
  return formatTable(shown, 'Nothing is stored.', { keep: 3 });
}
