/** `satchel vault`: what a project's vault holds, changing it, revealing it, and running a command with it. */
import { basename } from 'node:path';
import { Option } from 'commander';
import { type Cli, type CliSession, UsageError } from '../platform/cli/cli.ts';
import { collect, listOption, textOption } from '../platform/cli/options.ts';
import { readSecret, readSecretBytes } from '../platform/cli/secret-input.ts';
import { formatTable, type Table } from '../platform/cli/tables.ts';
import type { ProjectRow, Projects } from '../projects/service.ts';
import { ENV_TARGETS } from './env-blocks.ts';
import { requireVaultService, VAULT_SERVICES, type VaultService } from './registry.ts';
import type { RevealedVault, ServiceMetadata } from './schemas.ts';
import type { Vault } from './service.ts';

interface Services {
  vault: Vault;
  projects: Projects;
}

const MASK = '********';

/** Registers `satchel vault services | show | set | reveal | env | run | delete`. */
export function registerVaultCommands(cli: Cli<Services>): void {
  const noun = cli.noun('vault', "credentials and configuration files of a project's services");
  const verb = (signature: string, description: string) =>
    cli
      .verb(noun, signature, description)
      .requiredOption('--project <ref>', 'numeric id, ULID or slug of the project');
  cli
    .verb(noun, 'services', 'every service a vault knows, with its fields')
    .addHelpText('after', '\nExample:\n  satchel vault services')
    .action(cli.plainAction(async () => ({ json: VAULT_SERVICES, text: registryTable() })));
  verb('show [service]', 'what is stored; secrets are masked')
    .addHelpText('after', '\nExample:\n  satchel vault show --project shop stripe')
    .action(
      cli.action(async ({ services }, options, name) => {
        const project = projectOf(services, options);
        if (name !== undefined) {
          const metadata = services.vault.describeService(project, requireVaultService(name));
          return { json: metadata, text: metadataTable([metadata]) };
        }
        const metadata = services.vault.describe(project);
        return { json: metadata, text: metadataTable(metadata) };
      }),
    );
  registerChanges(cli, verb);
  registerReveals(cli, verb);
  registerRun(cli, verb);
}

type Verb = (signature: string, description: string) => ReturnType<Cli<Services>['verb']>;

function registerChanges(cli: Cli<Services>, verb: Verb): void {
  verb('set <service>', 'store fields of a service; those not named stay as they are')
    .argument(
      '[field=value...]',
      'a secret is best given as field=-, field=@file or field=env:NAME',
      readPair,
    )
    .option('--unset <field>', 'remove a field; may be repeated', collect)
    .addHelpText(
      'after',
      `
Examples:
  satchel vault set --project shop captcha site_key=0x4AAA secret_key=-
  satchel vault set --project shop firebase service_account=@service-account.json
  satchel vault set --project shop stripe secret_key=env:STRIPE_SECRET_KEY`,
    )
    .action(
      cli.action(async ({ services, actor }, options, name = '', ...pairs) => {
        const project = projectOf(services, options);
        const service = requireVaultService(name);
        const removed = listOption(options, 'unset');
        if (pairs.length + removed.length === 0) {
          throw new UsageError('Name what to store as field=value, or what to remove with --unset.');
        }
        const values: Record<string, unknown> = {};
        for (const field of removed) values[field] = null;
        for (const pair of pairs) {
          const field = pair.slice(0, pair.indexOf('='));
          values[field] = await readValue(cli, service, field, pair.slice(field.length + 1));
        }
        const metadata = await services.vault.set(actor, project, service, values);
        if (service.service === 'captcha')
          warn(
            cli,
            services.vault.warnings([project]).map(({ message }) => message),
          );
        return { json: metadata, text: metadataTable([metadata]) };
      }),
    );
  verb('delete <service>', 'remove everything stored of a service')
    .addHelpText('after', '\nExample:\n  satchel vault delete --project shop stripe')
    .action(
      cli.action(async ({ services, actor }, options, name = '') => {
        const service = requireVaultService(name);
        const removed = await services.vault.remove(actor, projectOf(services, options), service);
        const { vault_credentials, vault_files } = removed.cascade;
        return {
          json: removed,
          text: `Removed of ${service.service}: ${vault_credentials} values, ${vault_files} files.`,
        };
      }),
    );
}

function registerReveals(cli: Cli<Services>, verb: Verb): void {
  verb('reveal [service]', 'print what is stored in clear text; the audit trail records it')
    .addHelpText('after', '\nExample:\n  satchel vault reveal --project shop stripe')
    .action(
      cli.action(async ({ services, actor }, options, name) => {
        const scope = name === undefined ? {} : { service: requireVaultService(name) };
        const project = projectOf(services, options);
        const revealed = await services.vault.reveal(actor, project, { how: 'reveal', ...scope });
        warnOfUndecryptable(cli, revealed.undecryptable);
        return { json: revealed, text: revealedTable(revealed) };
      }),
    );
  verb('env', 'print a .env file with real values; the audit trail records it')
    .addOption(
      new Option('--target <target>', 'for whom: client targets hold client-safe fields only')
        .choices(ENV_TARGETS)
        .makeOptionMandatory(),
    )
    .addHelpText('after', '\nExample:\n  satchel vault env --project shop --target server > .env')
    .action(
      cli.action(async ({ services, actor }, options) => {
        const target = ENV_TARGETS.find((each) => each === options.target) ?? 'server';
        const project = projectOf(services, options);
        const { env, undecryptable } = await services.vault.reveal(actor, project, { how: 'env' });
        warnOfUndecryptable(cli, undecryptable);
        const block = env[target];
        if (block === undefined) cli.note(`satchel: nothing is stored that a ${target} block would hold`);
        return {
          json: { env: block === undefined ? {} : { [target]: block }, undecryptable },
          text: block ?? '',
        };
      }),
    );
}

function registerRun(cli: Cli<Services>, verb: Verb): void {
  verb('run <command...>', 'run a command with the server block in its environment; ends with its status')
    .addHelpText('after', '\nExample:\n  satchel vault run --project shop -- npm start')
    .action(async (...raw: unknown[]) => {
      let command: string[] = [];
      let variables: Record<string, string> = {};
      const reveal = cli.action(async ({ services, actor }, options, ...words) => {
        if (options.json === true) {
          throw new UsageError('What is printed is what the command prints: leave --json out.');
        }
        command = words;
        const revealed = await services.vault.revealVariables(actor, projectOf(services, options));
        warnOfUndecryptable(cli, revealed.undecryptable);
        variables = revealed.variables;
        return { json: null, text: '' };
      });
      await reveal(...raw);
      // The data directory is closed by now: the command may run for days, or be a restore.
      cli.exitWith(await cli.host.process.runCommand(command, variables));
    });
}

function projectOf(services: CliSession<Services>['services'], options: Record<string, unknown>): ProjectRow {
  return services.projects.require(textOption(options, 'project') ?? '');
}

/** Commander's parser of one `field=value`. Wrong usage otherwise, without what was given: it may be the secret. */
function readPair(value: string, previous: string[] | undefined): string[] {
  if (!/^[a-z0-9_]+=/.test(value))
    throw new UsageError(
      'What to store must have the form field=value, with the name of a field in lower case.',
    );
  return [...(previous ?? []), value];
}

/** What an argument stands for. Only secrets draw a warning when they are given as they are. */
async function readValue(
  cli: Cli<Services>,
  service: VaultService,
  name: string,
  argument: string,
): Promise<unknown> {
  const field = service.fields.find((each) => each.field === name);
  const what = `${service.service}.${name}`;
  const is_reference = argument === '-' || argument.startsWith('@') || argument.startsWith('env:');
  if (field?.file) {
    if (!is_reference) throw new UsageError(`${what} is a file: give ${name}=@path or ${name}=-`);
    const bytes = await readSecretBytes(cli, argument, what);
    const filename = argument.startsWith('@') ? basename(argument.slice(1)) : name;
    return { filename, content_base64: Buffer.from(bytes).toString('base64') };
  }
  if (!is_reference && !field?.secret) return argument;
  return await readSecret(cli, argument, what);
}

function warn(cli: Cli<Services>, warnings: readonly string[]): void {
  for (const warning of warnings) cli.note(`satchel: warning: ${warning}`);
}

function warnOfUndecryptable(cli: Cli<Services>, undecryptable: RevealedVault['undecryptable']): void {
  warn(
    cli,
    undecryptable.map(({ service, field }) => `${service}.${field} does not decrypt and is left out`),
  );
}

function registryTable(): Table {
  const rows = VAULT_SERVICES.flatMap(({ service, fields }) =>
    fields.map((field) => {
      const kind = field.file
        ? 'file'
        : field.secret
          ? 'secret'
          : field.client_safe
            ? 'client-safe'
            : 'plain';
      return [service, field.field, kind, field.env_key, field.help_text];
    }),
  );
  return formatTable(['service', 'field', 'kind', 'variable', 'what it is'], rows, '');
}

function metadataTable(services: readonly ServiceMetadata[]): Table {
  const rows = services.flatMap(({ service, values, present, updated_at }) =>
    Object.entries(present)
      .filter(([, is_present]) => is_present)
      .map(([field]) => {
        const value = values[field];
        return [service, field, value === undefined ? MASK : (value ?? 'does not decrypt'), updated_at];
      }),
  );
  return formatTable(['service', 'field', 'value', 'updated'], rows, 'Nothing is stored.', { keep: 3 });
}

function revealedTable(revealed: RevealedVault): Table {
  const rows = Object.entries(revealed.services).flatMap(([service, values]) =>
    Object.entries(values).map(([field, value]) =>
      typeof value === 'string'
        ? [service, field, value]
        : [service, field, `file ${value.filename}; --json has its content`],
    ),
  );
  return formatTable(['service', 'field', 'value'], rows, 'Nothing is stored.', { keep: 3 });
}
