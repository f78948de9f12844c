/** The verbs of `satchel vault` that let secrets out, each on record before it does: reveal, env and run. */
import { Option } from 'commander';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { formatTable, type Table } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { ENV_TARGETS } from './env-blocks.ts';
import { type Services, vaultOf, vaultVerb } from './environment-cli.ts';
import { requireVaultService } from './registry.ts';
import type { RevealedVault } from './schemas.ts';

const BLOCK_TARGETS = [...ENV_TARGETS, 'shell'] as const;

export function registerReveals(cli: Cli<Services>, noun: Noun<Services>): void {
  registerReveal(cli, noun);
  registerEnv(cli, noun);
  registerRun(cli, noun);
}

function registerReveal(cli: Cli<Services>, noun: Noun<Services>): void {
  vaultVerb(noun, 'reveal [service]', 'print what is stored in clear text; the audit trail records it')
    .example('satchel vault reveal --project shop stripe')
    .does(async (session, options, name?: string) => {
      const scope = name === undefined ? {} : { service: requireVaultService(name) };
      const at = vaultOf(session, options);
      const revealed = await session.services.vault.reveal(session.actor, at, { how: 'reveal', ...scope });
      warnOfUndecryptable(cli, revealed.undecryptable);
      return { json: revealed, text: revealedTable(revealed) };
    });
}

function registerEnv(cli: Cli<Services>, noun: Noun<Services>): void {
  vaultVerb(noun, 'env', 'print a .env file with real values; the audit trail records it')
    .addOption(
      new Option('--target <target>', 'for whom: client targets hold client-safe fields only')
        .choices(BLOCK_TARGETS)
        .makeOptionMandatory(),
    )
    .example(
      'satchel vault env --project shop --target server > .env',
      'satchel vault env --project shop --environment staging --target server > .env',
      'satchel vault env --project shop --target vite > .env.production',
      'eval "$(satchel vault env --project shop --target shell)"',
    )
    .remark(`Each file is quoted for one loader, and only that one reads every value back as it is stored: server for dotenv, nextjs
for @next/env, vite for Vite's loadEnv, expo for @expo/env, shell for sh. Only shell is safe to source. What the loader
can't carry is named on stderr, and left out.`)
    .does(async (session, options) => {
      const { services, actor } = session;
      const target = BLOCK_TARGETS.find((each) => each === options.target) ?? 'server';
      const { text, ...rest } = await services.vault.revealBlock(actor, vaultOf(session, options), target);
      warnOfUndecryptable(cli, rest.undecryptable);
      noteShadowed(cli, rest.shadowed);
      warn(
        cli,
        rest.unquotable.map(({ name }) => `no ${target} block can hold the value of ${name}; it is left out`),
      );
      if (text === null) cli.note(`satchel: nothing is stored that a ${target} block would hold`);
      return { json: { env: text === null ? {} : { [target]: text }, ...rest }, text: text ?? '' };
    });
}

function registerRun(cli: Cli<Services>, noun: Noun<Services>): void {
  vaultVerb(
    noun,
    'run <command...>',
    'run a command with the server block in its environment; ends with its status',
  )
    .example(
      'satchel vault run --project shop -- npm start',
      'satchel vault run --project shop --environment staging -- npm start',
      `satchel vault run --project shop -- sh -c 'psql "$DATABASE_URL"'`,
    )
    .remark(`The command gets every value as it is stored; nothing is quoted or expanded. As in a shell, 127 says that there is no
such command, and 126 that it can't be run.`)
    .action(async (...raw: unknown[]) => {
      let command: string[] = [];
      let variables: Record<string, string> = {};
      const reveal = cli.action(async ({ services, actor }, options, ...words) => {
        if (options.json === true) {
          throw new UsageError('What is printed is what the command prints: leave --json out.');
        }
        command = words;
        const at = vaultOf({ services, project: projectOf(services, options) }, options);
        const revealed = await services.vault.revealVariables(actor, at);
        warnOfUndecryptable(cli, revealed.undecryptable);
        noteShadowed(cli, revealed.shadowed);
        variables = revealed.variables;
        return { json: null, text: '' };
      });
      await reveal(...raw);
      // The data directory is closed before this: the command may run for days, or be a restore.
      cli.exitWith(await cli.host.process.runCommand(command, variables));
    });
}

export function warn(cli: Cli<Services>, warnings: readonly string[]): void {
  for (const warning of warnings) cli.note(`satchel: warning: ${warning}`);
}

function warnOfUndecryptable(cli: Cli<Services>, undecryptable: RevealedVault['undecryptable']): void {
  warn(
    cli,
    undecryptable.map(({ service, field }) => `${service}.${field} does not decrypt and is left out`),
  );
}

function noteShadowed(cli: Cli<Services>, shadowed: RevealedVault['shadowed']): void {
  for (const { service, field, name } of shadowed)
    cli.note(`satchel: ${name} is the one of env; ${service}.${field} is left out`);
}

function revealedTable({ services }: RevealedVault): Table {
  const rows = Object.entries(services).flatMap(([service, values]) =>
    Object.entries(values).map(([field, value]) => {
      const shown = typeof value === 'string' ? value : `file ${value.filename}; --json has its content`;
      return { service, field, value: shown };
    }),
  );
  return formatTable(rows, 'Nothing is stored.', { keep: 3 });
}
