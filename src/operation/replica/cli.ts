/** `satchel replica`: a copy of the database in an S3 store, a second behind, by Litestream. */

import { type Cli, type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { databasePathOf, requireDatabase } from '../../platform/host/database-file.ts';
import { asCallerAt } from '../../platform/host/ownership.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { readS3Place } from '../../store-place.ts';
import { makeReplicaConfig, REPLICA_PATHS, replicaPathsIn, writeReplicaConfig } from './config.ts';
import { describeMissing, type ReplicaStatus, replicaStatus } from './service.ts';

export function registerReplicaCommands<S>(cli: Cli<S>, clock: Clock): void {
  const noun = cli.noun('replica');
  noun
    .verb('config', "print Litestream's configuration and a systemd unit that runs it, or write them")
    .requiredOption('--to <url>', 'where to: s3://BUCKET[/PREFIX]?endpoint=URL[&region=R][&style=path]')
    .option(
      '--out <dir>',
      'write both files into this folder, which the unit then names, and over no other file',
    )
    .remark(`The replica is kept under PREFIX/litestream. The store's keys go into ${REPLICA_PATHS.keys}, or
litestream.env of the folder (mode 0600), as LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY. Litestream 0.5.18 or later.`)
    .example(
      "satchel replica config --to 's3://backups/satchel?endpoint=https%3A%2F%2Fs3.example.com'",
      "satchel replica config --to 's3://backups/satchel?endpoint=https%3A%2F%2Fs3.example.com' --out /etc/satchel",
    )
    .action(
      cli.plainAction(async ({ config }, options) => {
        const place = readS3Place(textOption(options, 'to') ?? '');
        if (typeof place === 'string') throw new UsageError(`--to ${place}`);
        requireDatabase(config.data_dir);
        const out = textOption(options, 'out');
        const paths = out === undefined ? REPLICA_PATHS : replicaPathsIn(out);
        const made = makeReplicaConfig(config, place, paths);
        if (out === undefined) {
          const texts = [`# ${paths.config}\n${made.config}`, `# ${paths.unit}\n${made.unit}`];
          return { json: made, text: texts.join('\n').trimEnd() };
        }
        asCallerAt(paths.config, () => writeReplicaConfig(made, paths));
        return {
          json: { ...made, paths },
          text: `${paths.config}
${paths.unit}

Next: write the store's keys into ${paths.keys} (mode 0600), then
  systemctl enable --now ${shellWord(paths.unit)}`,
        };
      }),
    );
  noun
    .verb('status', 'how far the replica is behind, and what is not in it')
    .remark('Exit status: 1 where nothing is replicated now.')
    .example('satchel replica status')
    .action(
      cli.plainAction(async ({ config }) => {
        requireDatabase(config.data_dir);
        const sqlite = connect(databasePathOf(config.data_dir), { query_only: true });
        try {
          return present(await replicaStatus(config.data_dir, sqlite, clock.now()));
        } finally {
          sqlite.close();
        }
      }),
    );
}

const WHAT_TO_DO: Readonly<Record<ReplicaStatus['state'], string>> = {
  none: 'No Litestream has worked on this database. To begin: satchel replica config --help',
  stopped:
    'Litestream does not run, or not as satchel replica config says. To start it: systemctl start satchel-litestream',
  starting:
    'Litestream has just started, or its store has not answered yet: journalctl -u satchel-litestream',
  behind: 'What the store answers: journalctl -u satchel-litestream',
  replicating: 'The database is in the replica.',
};

function present(status: ReplicaStatus): CliResult {
  const { state, last_replicated_at, behind_seconds, not_replicated } = status;
  const fields = formatFields({ state, last_replicated_at, behind_seconds });
  return {
    json: status,
    text: `${fields}\n\n${WHAT_TO_DO[state]}${describeMissing(not_replicated)}`,
    exit: state === 'replicating' ? EXIT.done : EXIT.refused,
  };
}
