/** Verbs of the platform itself: `satchel master-key rotate` and `migrate`. */

import type { Config } from '../../config.ts';
import { recordAudit } from '../database/audit-trail.ts';
import { listPendingMigrations, type Migration } from '../database/migrate.ts';
import type { Clock } from '../host/clock.ts';
import { openDataDirectory } from '../host/data-directory.ts';
import { databasePathOf, requireDatabase } from '../host/database-file.ts';
import { lockDirectory } from '../host/directory-lock.ts';
import { parseEnvFile, readEnvFile } from '../host/env-file.ts';
import { touchWakeFile } from '../host/server-note.ts';
import { linesShellsReadOtherwise } from '../host/shell-reading.ts';
import { type Cli, type CliContext, type CliResult, ENV_FILE_VERB } from './cli.ts';
import { readSecret } from './input.ts';
import { textOption } from './options.ts';

export function registerMasterKeyCommand<S>(cli: Cli<S>, clock: Clock): void {
  const noun = cli.noun('master-key');
  noun
    .verb('rotate', 'change the master key; every secret stays readable')
    .option(
      '--new-key <value>',
      'for SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE: its new value as -, @file or env:NAME',
    )
    .remark(`A master key file gets a new random key. A server that runs goes on; where the key comes from
the environment it is restarted with the new value afterwards.`)
    .example(
      'satchel master-key rotate',
      'openssl rand -base64 32 | tee new-key | satchel master-key rotate --new-key -',
    )
    .action(
      cli.plainAction((context, options) =>
        rotateMasterKey(cli, context, textOption(options, 'newKey'), clock),
      ),
    );
}

async function rotateMasterKey<S>(
  cli: Cli<S>,
  { config, actor, progress }: CliContext,
  new_key: string | undefined,
  clock: Clock,
): Promise<CliResult> {
  requireDatabase(config.data_dir);
  const replacement = new_key === undefined ? null : await readSecret(cli, new_key, 'the new master key');
  const { key_ring, close } = await openDataDirectory(config, { clock });
  try {
    const old_master_key_id = key_ring.master_key_id;
    // No share of it can be told: it is one transaction, in which nothing waits for a terminal.
    progress('wrapping every data key anew');
    const { master_key_id, rewrapped, undecryptable, next_step } = await key_ring.rotate(
      replacement,
      (tx, rotation) => {
        const metadata = { old_master_key_id, ...rotation };
        recordAudit(
          tx,
          actor,
          { event: 'master_key.rotated', target: null, project: null, metadata },
          clock.now(),
        );
      },
    );
    touchWakeFile(config.data_dir, clock.now());
    const steps = [
      ...(next_step === null ? [] : [next_step]),
      ...(undecryptable.length === 0
        ? []
        : [`These did not open under the old key either: ${undecryptable.join(', ')}. See satchel doctor.`]),
      'Keep a copy of the new key apart from the backups.',
      `Backups made before this need the old key (${old_master_key_id}): make a new one with satchel backup FILE.`,
    ];
    return {
      json: { master_key_id, old_master_key_id, rewrapped, undecryptable, next_steps: steps },
      text: `The master key is now ${master_key_id}; data keys wrapped anew: ${rewrapped}.\n\n${steps.map((step) => `- ${step}`).join('\n')}`,
    };
  } finally {
    await close();
  }
}

export function registerMigrateCommand<S>(cli: Cli<S>, clock: Clock): void {
  cli
    .topVerb('migrate')
    .option('--dry-run', 'only say what would be done')
    .example('satchel migrate --dry-run')
    .action(cli.plainAction(({ config }, options) => runMigrate(config, options.dryRun === true, clock)));
}

/** Throws AppError `conflict` beside a running server: older code would meet a schema it does not know. */
async function runMigrate(config: Config, dry_run: boolean, clock: Clock): Promise<CliResult> {
  requireDatabase(config.data_dir);
  const pending = listPendingMigrations(databasePathOf(config.data_dir));
  const present = ({ version, name }: Migration) => ({ version, name });
  if (pending.length === 0)
    return { json: { pending: [], applied: [] }, text: 'The database is up to date.' };
  const names = pending.map(({ version, name }) => `${version} (${name})`).join(', ');
  if (dry_run)
    return { json: { pending: pending.map(present), applied: [] }, text: `Would be applied: ${names}.` };
  const directory = await openDataDirectory(config, {
    clock,
    beforeOpening: () => lockDirectory(config.data_dir, process.pid),
  });
  await directory.close();
  return { json: { pending: [], applied: pending.map(present) }, text: `Applied: ${names}.` };
}

/** Prints the value of a variable; or, of none, the numbers of the lines that a shell reads otherwise. */
export function registerEnvFileVerb<S>(cli: Cli<S>): void {
  cli
    .command(ENV_FILE_VERB)
    .argument('<file>')
    .argument('[name]')
    .action((path: string, name?: string) => {
      const text = readEnvFile(path);
      const named = parseEnvFile(text).assignments.findLast((each) => each.name === name);
      cli.print(name === undefined ? linesShellsReadOtherwise(text).join(', ') : (named?.value ?? ''));
    });
}
