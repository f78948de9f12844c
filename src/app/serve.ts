/** `satchel serve`: takes the lock, starts the app, says when it is ready, and stops it in order. */

import type { People } from '../access/people/service.ts';
import type { Config } from '../config.ts';
import { messageOf } from '../errors.ts';
import { refuseNewDatabase, type TakeOver } from '../operation/ownership/service.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { systemClock } from '../platform/host/clock.ts';
import { openDataDirectory } from '../platform/host/data-directory.ts';
import { lockDirectory } from '../platform/host/directory-lock.ts';
import { createLogger } from '../platform/host/logger.ts';
import { becomeOwnerForGood } from '../platform/host/ownership.ts';
import { removeServerNote, type ServerNote, writeServerNote } from '../platform/host/server-note.ts';
import { createApp } from './app.ts';
import { createMaintenance } from './maintenance.ts';

/** Whoever waits for the start is served first. */
const START_DELAY_MS = 1_000;

type Terminal = Pick<Cli<unknown>, 'print' | 'note' | 'is_shown'>;

/**
 * Serves until SIGTERM or SIGINT, and resolves with the exit status. A second signal ends the process at
 * once. Throws AppError `conflict` where another server has the data directory or another Satchel the store.
 * `noteAt` has what verbs are told once it listens, `links` the variables that look like settings and are
 * Kubernetes'.
 */
export async function serve(
  config: Config,
  terminal: Terminal,
  {
    take_over,
    noteAt,
    links,
  }: {
    take_over: TakeOver;
    noteAt(port: number): Pick<ServerNote, 'settings' | 'kept'>;
    links: readonly string[];
  },
): Promise<number> {
  const clock = systemClock;
  const user = becomeOwnerForGood(config.data_dir);
  if (!take_over.new_owner) await refuseNewDatabase(config);
  const logger = createLogger({ level: config.log_level, format: config.log_format, clock });
  if (user !== null)
    logger.info('root serves a directory of another user, and is that user from now on', { user });
  if (links.length > 0)
    logger.warn(
      "variables that Kubernetes sets for Services whose names begin with satchel count as not there: set enableServiceLinks: false in the pod's spec",
      { variables: links.join(', ') },
    );
  const directory = await openDataDirectory(config, {
    clock,
    beforeOpening() {
      const lock = lockDirectory(config.data_dir, process.pid);
      removeServerNote(config.data_dir);
      return lock;
    },
    flush_thread: {
      onLost: (error) => {
        logger.error(
          'the disk did not keep what was written: look at it (dmesg). This process ends, and the next one goes by what it finds',
          { error: messageOf(error) },
        );
        logger.flush();
        process.exit(1);
      },
    },
  });
  for (const warning of directory.warnings) logger.warn(warning);
  if (directory.migrated.length > 0)
    logger.info('database migrated', { migrations: directory.migrated.join(', ') });
  const app = createApp(config, {
    clock,
    logger,
    database: directory.database,
    key_ring: directory.key_ring,
    maintenance: createMaintenance(config),
  });
  const { ownership } = app.services;
  try {
    await ownership.claim(take_over);
  } catch (error) {
    logger.flush();
    await directory.close();
    throw error;
  }
  const stopped = untilSignal(terminal);
  process.on('uncaughtException', (error) =>
    logger.error('uncaught exception', { error: messageOf(error), stack: error.stack }),
  );
  process.on('unhandledRejection', (reason) =>
    logger.error('unhandled rejection', { error: messageOf(reason) }),
  );
  const port = await app.start(START_DELAY_MS).catch(async (error: unknown) => {
    await ownership.release();
    throw error;
  });
  try {
    const { key: findings_key } = app.services.doctor;
    writeServerNote(config.data_dir, { address: addressOf(config, port), findings_key, ...noteAt(port) });
  } catch (error) {
    logger.warn('verbs beside this server do not know its settings: no note of them could be written', {
      error: messageOf(error),
    });
  }
  if (config.tls && !app.isServed())
    terminal.print(`satchel waits for a certificate for ${config.tls.names.join(', ')}`);
  const served = app.whenServed().then(async () => {
    terminal.print(`satchel listening on ${addressOf(config, port)}`);
    if (!terminal.is_shown) return;
    await welcomeFirstPerson(app.services.people, terminal).catch((error: unknown) =>
      logger.warn('no link for the first person could be made', { error: messageOf(error) }),
    );
  });
  const signal = await Promise.race([stopped, served.then(() => stopped)]);
  logger.info('stopping', { signal });
  await app.stop();
  await ownership.release();
  removeServerNote(config.data_dir);
  await directory.close();
  logger.info('stopped');
  logger.flush();
  return 0;
}

function addressOf({ host, tls }: Config, port: number): string {
  if (tls) return `https://${tls.names[0]}${port === 443 ? '' : `:${port}`}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Printed for whoever sits at the terminal and logged nowhere: the link lets its reader in. */
async function welcomeFirstPerson(people: People, terminal: Terminal): Promise<void> {
  const link = await people.makeFirstLink();
  if (link === null) return;
  terminal.print(
    `\nNobody can sign in to the console yet. This link makes the first person, once and within 24 hours:\n  ${link}`,
  );
}

function untilSignal(terminal: Terminal): Promise<string> {
  return new Promise((resolve) => {
    let is_stopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (is_stopping) {
          terminal.note('satchel: second signal, ending at once');
          process.exit(1);
        }
        is_stopping = true;
        resolve(signal);
      });
    }
  });
}
