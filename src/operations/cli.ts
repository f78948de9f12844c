/** `satchel backup`, `restore`, `verify`, `master-key`, `doctor`, `migrate` and `completion`: what keeps a deployment well. */
import { Argument, type Command } from 'commander';
import { restoreBackup, type VerifyResult, verifyBackup } from '../backups/restore.ts';
import { backUp } from '../backups/service.ts';
import type { Config } from '../config.ts';
import { type DoctorDeps, examine, worstOf } from '../doctor/service.ts';
import { type CheckedServices, createServiceChecks } from '../doctor/service-checks.ts';
import { AppError } from '../errors.ts';
import { type Cli, type CliContext, type CliResult, EXIT } from '../platform/cli/cli.ts';
import { completionScript, SHELLS } from '../platform/cli/completion.ts';
import { textOption } from '../platform/cli/options.ts';
import { readSecret } from '../platform/cli/secret-input.ts';
import { shellWord } from '../platform/cli/shell-words.ts';
import { formatFields } from '../platform/cli/tables.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import { listPendingMigrations, type Migration } from '../platform/database/migrate.ts';
import type { Clock } from '../platform/host/clock.ts';
import { databasePathOf, openDataDirectory, requireDatabase } from '../platform/host/data-directory.ts';
import { lockDirectory } from '../platform/host/directory-lock.ts';
import type { Finding } from '../platform/host/health-check.ts';
import { touchWakeFile } from '../platform/jobs/wake-file.ts';

export interface OperationDeps {
  clock: Clock;
  /** The capabilities on a database that is already open; for `doctor`. */
  createServices(
    config: Config,
    deps: Parameters<DoctorDeps['createChecks']>[0],
  ): CheckedServices & { close(): Promise<void> };
}

/** Registers the verbs. They open the data directory in their own ways: most must not make, migrate or unlock anything. */
export function registerOperationCommands<S>(cli: Cli<S>, deps: OperationDeps): void {
  registerBackup(cli, deps.clock);
  registerRestore(cli, deps.clock);
  registerVerify(cli);
  registerMasterKey(cli, deps.clock);
  registerDoctor(cli, deps);
  registerMigrate(cli, deps.clock);
  registerCompletion(cli);
}

function registerBackup<S>(cli: Cli<S>, clock: Clock): void {
  cli
    .verb(
      cli.program,
      'backup <file>',
      'write everything but the master key to one new file, while the server runs',
    )
    .addHelpText(
      'after',
      `
Keep the master key apart from the backups: who has both has every secret, and without it
the secrets in a backup are lost.

Example:
  satchel backup /var/backups/satchel-$(date +%F).backup`,
    )
    .action(
      cli.plainAction((context, _options, file = '') => {
        cli.host.process.yieldToOthers();
        return runBackup(context, file, clock);
      }),
    );
}

async function runBackup({ config, note }: CliContext, file: string, clock: Clock): Promise<CliResult> {
  const result = await backUp(config.data_dir, { file, clock });
  for (const id of result.left_out) {
    note(
      `satchel: warning: the bytes of object ${id} are missing or damaged on the disk; it is not in the backup`,
    );
  }
  const key =
    result.master_key_id === null
      ? 'Nothing was ever sealed, so it needs no master key.'
      : `The master key (${result.master_key_id}) is not in it: keep a copy of it elsewhere, or its secrets are lost.`;
  const fields = formatFields({
    file: result.file,
    size: formatBytes(result.size_bytes),
    objects: `${result.objects} (${formatBytes(result.object_bytes)})`,
    database: formatBytes(result.database_bytes),
    left_out: result.left_out.length,
  });
  return {
    json: result,
    text: `${fields}\n\n${key}\nCheck it with: satchel verify ${shellWord(result.file)}`,
  };
}

function registerRestore<S>(cli: Cli<S>, clock: Clock): void {
  cli
    .verb(cli.program, 'restore <file>', 'put a backup into the data directory; the server must be stopped')
    .option('--yes', 'even where there is data already; it is kept in a folder beside')
    .addHelpText(
      'after',
      `
The backup is unpacked and checked first; until all of it is sound nothing is replaced.
The master key comes from where the server takes it: master.key in the data directory,
SATCHEL_MASTER_KEY_FILE, SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE.

Example:
  satchel restore /var/backups/satchel-2026-01-31.backup --yes`,
    )
    .action(
      cli.plainAction(async ({ config, note }, options, file = '') => {
        const result = await restoreBackup(config, { file, replace: options.yes === true, clock });
        const { notes, ...json } = result;
        for (const each of notes) note(each);
        const fields = formatFields({
          data_dir: result.data_dir,
          backup_of: result.created_at,
          projects: result.projects,
          objects: `${result.objects} (${formatBytes(result.object_bytes)})`,
          emails: result.emails,
          master_key: result.master_key_id,
        });
        return { json, text: `Restored.\n\n${fields}` };
      }),
    );
}

function registerVerify<S>(cli: Cli<S>): void {
  cli
    .verb(
      cli.program,
      'verify <file>',
      'read a whole backup, restore it to a scratch folder, and check all of it',
    )
    .option('--scratch-dir <dir>', 'where the scratch folder is made (default: beside the file)')
    .addHelpText('after', '\nExample:\n  satchel verify /var/backups/satchel-2026-01-31.backup')
    .action(
      cli.plainAction(async (_context, options, file = '') => {
        cli.host.process.yieldToOthers();
        const result = await verifyBackup({ file, scratch_dir: textOption(options, 'scratchDir') ?? null });
        return { json: result, text: describeVerified(result), exit: result.ok ? EXIT.done : EXIT.refused };
      }),
    );
}

function describeVerified(result: VerifyResult): string {
  if (!result.ok) return `NOT SOUND: ${result.file}\n${result.findings.join('\n')}`;
  const fields = formatFields({
    file: result.file,
    made: `${result.created_at} by Satchel ${result.made_by}`,
    projects: result.projects,
    objects: `${result.objects} (${formatBytes(result.object_bytes ?? 0)})`,
    emails: result.emails,
    master_key: result.master_key_id,
  });
  return `Sound: every byte was read, and every object has the bytes its row tells of.\n\n${fields}`;
}

function registerMasterKey<S>(cli: Cli<S>, clock: Clock): void {
  const noun = cli.noun('master-key', 'the key that all stored secrets depend on');
  cli
    .verb(noun, 'rotate', 'change the master key; every secret stays readable')
    .option(
      '--new-key <value>',
      'for SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE: its new value as -, @file or env:NAME',
    )
    .addHelpText(
      'after',
      `
A master key file gets a new random key. A server that runs goes on; where the key comes from
the environment it is restarted with the new value afterwards.

Examples:
  satchel master-key rotate
  openssl rand -base64 32 | tee new-key | satchel master-key rotate --new-key -`,
    )
    .action(
      cli.plainAction((context, options) =>
        rotateMasterKey(cli, context, textOption(options, 'newKey'), clock),
      ),
    );
}

async function rotateMasterKey<S>(
  cli: Cli<S>,
  { config, actor }: CliContext,
  new_key: string | undefined,
  clock: Clock,
): Promise<CliResult> {
  requireDatabase(config.data_dir);
  const replacement = new_key === undefined ? null : await readSecret(cli, new_key, 'the new master key');
  const { key_ring, close } = await openDataDirectory(config, { clock });
  try {
    const old_master_key_id = key_ring.master_key_id;
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

function registerDoctor<S>(cli: Cli<S>, deps: OperationDeps): void {
  cli
    .verb(
      cli.program,
      'doctor',
      'look for what is wrong, and name the command that mends it; changes nothing',
    )
    .addHelpText(
      'after',
      '\nExit status: 1 when there is a problem; warnings alone are 0.\n\nExample:\n  satchel doctor',
    )
    .action(
      cli.plainAction(async ({ config }, options) => {
        const found = await examine(config, {
          clock: deps.clock,
          createChecks(on) {
            const services = deps.createServices(config, on);
            return { checks: createServiceChecks(services), close: () => services.close() };
          },
        });
        const is_named = textOption(options, 'dataDir') !== undefined;
        const findings = is_named ? found.map((finding) => atDirectory(finding, config.data_dir)) : found;
        const status = worstOf(findings);
        return {
          json: { status, findings },
          text: findings.map(describeFinding).join('\n'),
          exit: status === 'problem' ? EXIT.refused : EXIT.done,
        };
      }),
    );
}

/** A remedy for the directory that --data-dir named: without it the command would work on another one. */
function atDirectory(finding: Finding, data_dir: string): Finding {
  const named = `satchel --data-dir ${shellWord(data_dir)} `;
  return { ...finding, remedy: finding.remedy?.replace(/(?<=^|, then )satchel /g, () => named) ?? null };
}

const MARKS = { ok: 'ok      ', warning: 'WARNING ', problem: 'PROBLEM ' } as const;

function describeFinding({ check, status, message, remedy }: Finding): string {
  const line = `${MARKS[status]} ${check}: ${message}`;
  return remedy === null ? line : `${line}\n          -> ${remedy}`;
}

function registerMigrate<S>(cli: Cli<S>, clock: Clock): void {
  cli
    .verb(cli.program, 'migrate', 'bring the database up to date, as the next start of the server would')
    .option('--dry-run', 'only say what would be done')
    .addHelpText('after', '\nExample:\n  satchel migrate --dry-run')
    .action(cli.plainAction(({ config }, options) => runMigrate(config, options.dryRun === true, clock)));
}

/** Throws AppError `conflict` while a server runs: the code of an older one would work on a schema it does not know. */
async function runMigrate(config: Config, dry_run: boolean, clock: Clock): Promise<CliResult> {
  requireDatabase(config.data_dir);
  const pending = listPendingMigrations(databasePathOf(config.data_dir));
  const describe = ({ version, name }: Migration) => ({ version, name });
  if (pending.length === 0)
    return { json: { pending: [], applied: [] }, text: 'The database is up to date.' };
  const names = pending.map(({ version, name }) => `${version} (${name})`).join(', ');
  if (dry_run)
    return { json: { pending: pending.map(describe), applied: [] }, text: `Would be applied: ${names}.` };
  const directory = await openDataDirectory(config, {
    clock,
    beforeOpening: () => lockDirectory(config.data_dir, process.pid),
  });
  await directory.close();
  return { json: { pending: [], applied: pending.map(describe) }, text: `Applied: ${names}.` };
}

function registerCompletion<S>(cli: Cli<S>): void {
  cli.program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  satchel completion bash > /etc/bash_completion.d/satchel
  satchel completion zsh > "\${fpath[1]}/_satchel"
  satchel completion fish > ~/.config/fish/completions/satchel.fish`,
    )
    .action((name: string, _: unknown, command: Command) => {
      const shell = SHELLS.find((each) => each === name);
      if (!shell) throw new AppError('invalid', `The shells are ${SHELLS.join(', ')}.`);
      const script = completionScript(cli.program, shell);
      const options: Record<string, unknown> = command.optsWithGlobals();
      cli.print(options.json === true ? JSON.stringify({ shell, script }) : script);
    });
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}
