/** `satchel vault`: looking at a project's vault and changing it. `reveal-cli.ts` lets secrets out. */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import type { Projects } from '../../access/projects/service.ts';
import { AppError } from '../../errors.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { readSecretBytes } from '../../platform/cli/input.ts';
import { collect, listOption } from '../../platform/cli/options.ts';
import { formatTable, type Table } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { counted } from '../../platform/words/phrases.ts';
import { registerImport } from './import-cli.ts';
import {
  freeFormField,
  requireVaultService,
  VAULT_SERVICES,
  type VaultField,
  type VaultService,
} from './registry.ts';
import { registerReveals, warn } from './reveal-cli.ts';
import type { RemovedService, ServiceMetadata } from './schemas.ts';
import type { Vault } from './service.ts';

interface Services {
  vault: Vault;
  projects: Projects;
}

const MASK = '********';

/** Registers `satchel vault services | show | set | import | reveal | env | run | delete`. */
export function registerVaultCommands(cli: Cli<Services>): void {
  const noun = cli.noun('vault');
  noun
    .verb('services', 'every service a vault knows, with its fields')
    .example('satchel vault services')
    .action(cli.plainAction(async () => ({ json: VAULT_SERVICES, text: registryTable() })));
  noun
    .verb('show [service]', 'what is stored; secrets are masked')
    .ofProject()
    .example('satchel vault show --project shop', 'satchel vault show --project shop env')
    .does(({ services, project }, _options, name?: string) => {
      if (name === undefined) {
        const all = services.vault.describe(project);
        return { json: all, text: metadataTable(all) };
      }
      const metadata = services.vault.describeService(project, requireVaultService(name));
      return { json: metadata, text: metadataTable([metadata]) };
    });
  registerChanges(cli, noun);
  registerImport(cli, noun);
  registerDelete(noun);
  registerReveals(cli, noun);
}

function registerChanges(cli: Cli<Services>, noun: Noun<Services>): void {
  noun
    .verb('set <service>', 'store fields of a service; those not named stay as they are')
    .ofProject()
    .argument(
      '[field=value...]',
      'a secret is best given as field=-, field=@file or field=env:NAME',
      readPair,
    )
    .option('--unset <field>', 'remove a field; may be repeated', collect)
    .option('--plain <names>', 'of env: which names are no secrets; without it each keeps its kind', collect)
    .example(
      'satchel vault set --project shop captcha site_key=0x4AAA secret_key=-',
      'satchel vault set --project shop firebase service_account=@service-account.json',
      'satchel vault set --project shop stripe secret_key=env:STRIPE_SECRET_KEY',
      'satchel vault set --project shop env SESSION_KEY=- TLS_CERT=@cert.pem',
      'satchel vault set --project shop env NEXT_PUBLIC_THEME=dark --plain NEXT_PUBLIC_THEME',
    )
    .remark(`The service env takes any NAME, at most 200 of them. Each is a secret unless --plain names it; a plain one that begins
with NEXT_PUBLIC_, VITE_ or EXPO_PUBLIC_ is in that target's env block too. A newline at the end of one line that - or @file
gives is taken for the editor's and left out; that of several lines stays.`)
    .does(async ({ services, project, actor }, options, name, ...pairs) => {
      const service = requireVaultService(name);
      const removed = listOption(options, 'unset');
      if (pairs.length + removed.length === 0) {
        throw new UsageError('Name what to store as field=value, or what to remove with --unset.');
      }
      if (!service.free_form && pairs.some((pair) => !/^[a-z0-9_]+=/.test(pair)))
        throw new UsageError(`Fields of ${service.service} are written in lower case.`);
      if (pairs.filter((pair) => /^\w+=-$/.test(pair)).length > 1)
        throw new UsageError('Standard input can be the value of one field only.');
      const plain = options.plain === undefined ? undefined : listOption(options, 'plain');
      const known_plain = plain ?? Object.keys(services.vault.describeService(project, service).values);
      const values = new Map<string, unknown>(removed.map((field) => [field, null]));
      for (const pair of pairs) {
        const name = pair.slice(0, pair.indexOf('='));
        const field = service.free_form
          ? freeFormField(name, known_plain.includes(name))
          : service.fields.find((each) => each.field === name);
        values.set(name, await readValue(cli, { service, name, field }, pair.slice(name.length + 1)));
      }
      const metadata = await services.vault.set(actor, project, service, Object.fromEntries(values), {
        plain,
      });
      if (service.service === 'captcha')
        warn(
          cli,
          services.vault.warnings([project]).map(({ message }) => message),
        );
      return { json: metadata, text: metadataTable([metadata]) };
    });
}

function registerDelete(noun: Noun<Services>): void {
  noun
    .verb('delete <service>', 'delete everything stored of a service')
    .ofProject()
    .example('satchel vault delete --project shop stripe --yes')
    .removes(async ({ services, project, consent, actor }, _options, name) => {
      const service = requireVaultService(name);
      const stored = countedOf(services.vault.count(project, service));
      consent(`deletes ${stored} of ${service.service} of the project ${project.slug} for good`);
      const removed = await services.vault.remove(actor, project, service);
      return { json: removed, text: `Deleted of ${service.service}: ${countedOf(removed.cascade)}.` };
    });
}

function countedOf({ vault_credentials, vault_files }: RemovedService['cascade']): string {
  return `${counted(vault_credentials, 'value')} and ${counted(vault_files, 'file')}`;
}

/** Commander's parser of `field=value`. Wrong usage is told without what was given: it may be the secret. */
function readPair(value: string, previous: string[] | undefined): string[] {
  if (!/^\w+=/.test(value)) throw new UsageError('What to store must have the form field=value.');
  return [...(previous ?? []), value];
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
  const rows = services.flatMap(({ service, values, present, updated_at }) =>
    Object.entries(present)
      .filter(([, is_present]) => is_present)
      .map(([field]) => {
        const value = Object.hasOwn(values, field) ? (values[field] ?? 'does not decrypt') : MASK;
        return { service, field, value, updated: updated_at };
      }),
  );
  return formatTable(rows, 'Nothing is stored.', { keep: 3 });
}
