/** `satchel backup`, `restore` and `verify`. None of them may migrate or unlock the data directory. */
import { basename } from 'node:path';
import { Option } from 'commander';
import { conflict } from '../../errors.ts';
import { fileWord, readsArchive, STREAM, writesArchive } from '../../platform/cli/archives.ts';
import { type Cli, type CliContext, type CliResult, EXIT } from '../../platform/cli/cli.ts';
import { numberOption, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import { ArchiveStream, STANDARD_INPUT } from '../../platform/files/archive-source.ts';
import type { Outlet } from '../../platform/files/archive-writer.ts';
import { S3Store } from '../../platform/files/s3-store.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { actAsCallerAt } from '../../platform/host/ownership.ts';
import { formatBytes } from '../../platform/words/phrases.ts';
import { DROP, describeHeld, type Held, isAny, RELEASE } from '../holds/service.ts';
import { makeRemembered, noteVerified } from './history.ts';
import { type BackupResult, backUp, backUpTo } from './making.ts';
import { restoreBackup } from './restore.ts';
import { backUpInto } from './rotation.ts';
import { refuseScheduleOptions, SCHEDULE, type ScheduleServices, scheduleAction } from './schedule-cli.ts';
import { KEEP } from './schemas.ts';
import { scratchFolder, type VerifyResult, verifyBackup } from './verification.ts';

export function registerBackup<S extends ScheduleServices>(cli: Cli<S>, clock: Clock): void {
  const make = cli.plainAction((context, options, file = '') => {
    refuseScheduleOptions(options);
    cli.host.process.yieldToOthers();
    const outlet = file === STREAM ? cli.host.process.outArchive : null;
    // What goes to standard output is made in the data directory.
    if (!outlet) actAsCallerAt(file);
    return runBackup(context, {
      file,
      keep: numberOption(options, 'keep'),
      with_store: options.withStore === true,
      outlet,
      clock,
    });
  });
  const schedule = scheduleAction(cli);
  writesArchive(cli.topVerb('backup'), cli)
    .option(
      '--keep <n>',
      'take <file> for a folder: write a dated file into it, and keep the newest n of those',
      wholeNumber(1),
    )
    .option('--with-store', 'bring the bytes along that are in the object store; it lists them otherwise')
    .option('--at <time>', 'with schedule: the time of day, such as 03:30, at which the server makes one')
    .option('--timezone <zone>', 'with schedule: the IANA time zone of that time (UTC)')
    .option('--off', 'with schedule: have the server make none')
    .remark(`With - for <file> the backup goes to standard output, and all else that is said to standard error.
Keep the master key apart from the backups: who has both has every secret, and without it
the secrets in a backup are lost.

\`satchel backup schedule\` says when the server makes backups by itself, into its own folder, and changes it; there --keep is
how many of those stay (${KEEP.fallback}). A file of that name is ./schedule.`)
    .example(
      'satchel backup /var/backups/satchel-$(date +%F).tar',
      'satchel backup --keep 7 /var/backups',
      'satchel backup - | gzip > /var/backups/satchel.tar.gz',
      'satchel backup schedule --at 03:30 --timezone Europe/Berlin --keep 14',
    )
    .action((...raw: unknown[]) => (raw[0] === SCHEDULE ? schedule(...raw) : make(...raw)));
}

async function runBackup(
  { config, note, progress }: CliContext,
  {
    file,
    keep,
    with_store,
    outlet,
    clock,
  }: {
    file: string;
    keep: number | undefined;
    with_store: boolean;
    outlet: Outlet | null;
    clock: Clock;
  },
): Promise<CliResult> {
  const onProgress = progress('backing up');
  if (with_store && !config.object_store)
    throw conflict('No object store is set. Set SATCHEL_OBJECT_STORE and its keys for this command.');
  const store = with_store && config.object_store ? new S3Store(config.object_store) : null;
  const { data_dir } = config;
  const how = { clock, store, onProgress };
  const onUnnoted = (why: string): void =>
    note(`satchel: warning: what became of it could not be noted for satchel doctor: ${why}`);
  if (keep === undefined) {
    const make = () => (outlet ? backUpTo(data_dir, { ...how, outlet }) : backUp(data_dir, { ...how, file }));
    return presentBackup(await makeRemembered(data_dir, { clock, onUnnoted }, make), note, {});
  }
  const make = () => backUpInto(data_dir, { ...how, dir: file, keep });
  const result = await makeRemembered(data_dir, { clock, onUnnoted }, make);
  for (const path of result.unsound)
    note(`satchel: warning: ${path} is no whole backup; it is not counted and not removed`);
  return presentBackup(result, note, { removed: result.removed.map((path) => basename(path)).join(', ') });
}

function presentBackup(
  result: BackupResult,
  note: CliContext['note'],
  more: Record<string, string>,
): CliResult {
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
    ...(result.stored_objects > 0
      ? {
          in_the_store: `${result.stored_objects} (${formatBytes(result.stored_bytes)})${result.with_store ? '' : ': listed only'}`,
        }
      : {}),
    database: formatBytes(result.database_bytes),
    left_out: result.left_out.length,
    ...more,
  });
  return {
    json: result,
    text: `${fields}\n\n${key}\nCheck it with: satchel verify ${fileWord(result.file)}`,
  };
}

export function registerRestore<S>(cli: Cli<S>, clock: Clock): void {
  readsArchive(cli.topVerb('restore'), cli)
    .option('--yes', 'even where there is data already; it is kept in a folder beside')
    .addOption(
      new Option('--to <store>', 'where bytes go that a backup --with-store brought along')
        .choices(['local', 's3'])
        .default('local'),
    )
    .option('--release', 'hold nothing: for who knows that nothing was sent since the backup')
    .remark(`The backup is unpacked and checked first; until all of it is sound nothing is replaced.
With - for <file> it comes on standard input: ssh HOST cat FILE | satchel restore - --yes
What would go on by itself (mails that waited, sequences, broadcasts, schedules, deliveries of webhooks, sign-ups)
is held, as it may have gone out since: satchel release has it go on, or count as done.
Without --data-dir it goes into ./data, or where install.sh --prefix installed this program, into that folder's data.
The master key comes from where the server takes it: master.key in the data directory,
SATCHEL_MASTER_KEY_FILE, SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE.`)
    .example('satchel restore /var/backups/satchel-2026-01-31.tar --yes')
    .action(
      cli.plainAction(
        async ({ config, actor, note, progress }, options, named) => {
          const file = await archiveOf(cli, named);
          const onProgress = progress('restoring');
          const replace = options.yes === true;
          const release = options.release === true;
          const to = options.to === 's3' ? 's3' : 'local';
          const result = await restoreBackup(config, {
            file,
            replace,
            to,
            release,
            actor,
            clock,
            onProgress,
          });
          const { notes, ...json } = result;
          for (const each of notes) note(each);
          const fields = formatFields({
            data_dir: result.data_dir,
            backup_of: result.created_at,
            projects: result.projects,
            objects: `${result.objects} (${formatBytes(result.object_bytes)})`,
            ...(result.stored_objects > 0 ? { in_the_store: result.stored_objects } : {}),
            emails: result.emails,
            master_key: result.master_key_id,
          });
          return { json, text: [`Restored.\n\n${fields}`, ...presentHold(result.held)].join('\n\n') };
        },
        { finds: 'own' },
      ),
    );
}

/** What is held, and both ways on. */
function presentHold(held: Held | null): string[] {
  if (held === null || !isAny(held)) return [];
  return [
    `Held, as it may have gone out since the backup was made: ${describeHeld(held)}.
Nothing of it goes on by itself. To let all go on, as if it had waited:
  ${RELEASE}
To have what was due before this restore count as done:
  ${DROP}`,
  ];
}

function archiveOf<S>(cli: Cli<S>, file: string): string | Promise<ArchiveStream> {
  return file === STREAM ? ArchiveStream.begin(cli.host.process.inputStream()) : file;
}

export function registerVerify<S>(cli: Cli<S>): void {
  readsArchive(cli.topVerb('verify'), cli)
    .option(
      '--scratch-dir <dir>',
      'where the scratch folder is made (default: beside the file; for standard input TMPDIR, else /tmp)',
    )
    .option('--deep', 'read and hash what it lists of the object store too, instead of asking for its size')
    .remark('With - for <file> the backup comes on standard input: ssh HOST cat FILE | satchel verify -')
    .example('satchel verify /var/backups/satchel-2026-01-31.tar')
    .action(
      cli.plainAction(async ({ config, progress }, options, named) => {
        cli.host.process.yieldToOthers();
        const file = await archiveOf(cli, named);
        const scratch_dir = scratchFolder(file, textOption(options, 'scratchDir') ?? null);
        actAsCallerAt(scratch_dir);
        const { object_store: settings, data_dir } = config;
        const stored = settings && { settings, data_dir, is_deep: options.deep === true };
        const result = await verifyBackup({ file, scratch_dir, stored, onProgress: progress('verifying') });
        noteVerified(data_dir, result);
        return { json: result, text: presentVerified(result), exit: result.ok ? EXIT.done : EXIT.refused };
      }),
    );
}

function presentVerified(result: VerifyResult): string {
  const stored = result.stored_objects ?? 0;
  if (!result.ok) return `NOT SOUND: ${result.file ?? STANDARD_INPUT}\n${result.findings.join('\n')}`;
  const fields = formatFields({
    file: result.file,
    made: `${result.created_at} by Satchel ${result.made_by}`,
    projects: result.projects,
    objects: `${result.objects} (${formatBytes(result.object_bytes ?? 0)})`,
    ...(stored > 0 ? { in_the_store: stored, deleted_since: result.deleted_since } : {}),
    emails: result.emails,
    master_key: result.master_key_id,
  });
  const beside =
    stored === 0
      ? ''
      : result.deleted_since === null
        ? ' Bytes in the object store are not in it, and were not looked at: SATCHEL_OBJECT_STORE is not set.'
        : ' What it lists of the object store is there, but for what was deleted since.';
  return `Sound: every byte was read, and every object has the bytes its row tells of.${beside}\n\n${fields}`;
}
