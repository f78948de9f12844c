/** The log forgets by the clock; the bytes of a message go with its last mail. */
import {
  ACTIVITY_RETENTION_MS,
  EMAIL_BODY_RETENTION_MS,
  EMAIL_LOG_RETENTION_MS,
  SWEEP_BATCH,
} from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, HOUR_MS, utcDay } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { deleteUsageBefore, releaseUsage } from '../mailboxes/service.ts';
import type { AttachmentSource } from './checking.ts';
import * as store from './store.ts';

/**
 * How long one transaction of a sweep deletes contents, of which SWEEP_BATCH of the largest would take two
 * seconds.
 */
const EMAIL_SWEEP_STEP_MS = 5;

interface SweepDeps {
  database: Database;
  clock: Clock;
  objects: Pick<AttachmentSource, 'releaseBytes'>;
  logger: Logger;
}

/** Forgets contents, log rows and counts whose time is over. */
export async function sweepEmails({ database, clock, objects }: Omit<SweepDeps, 'logger'>): Promise<void> {
  const now = clock.now();
  const limit = SWEEP_BATCH;
  const bodies_before = now - EMAIL_BODY_RETENTION_MS;
  const step = { limit, step_ms: EMAIL_SWEEP_STEP_MS };
  for (let is_more = true; is_more; ) {
    const { deleted, messages } = await database.writePiece((tx) =>
      store.deleteOldBodies(tx, bodies_before, step),
    );
    await objects.releaseBytes(messages);
    is_more = deleted > 0;
  }
  const log_before = now - EMAIL_LOG_RETENTION_MS;
  while ((await database.writePiece((tx) => store.deleteOldEmails(tx, log_before, limit))) === limit) {}
  const day = utcDay(now - 2 * DAY_MS);
  await database.write((tx) => {
    store.deleteKeyUsageBefore(tx, day);
    // Doctor compares a week's with what relays told.
    deleteUsageBefore(tx, utcDay(now - 8 * DAY_MS));
    store.deleteHoursBefore(tx, Math.floor((now - ACTIVITY_RETENTION_MS) / HOUR_MS));
  });
}

/** How emails take part in the deletion of their project: scheduled ones give their places back. */
export const emailsCascade = {
  count: () => ({}),
  remove: (tx: Tx, project: { id: number }): void => {
    for (const { mailbox_id, day } of store.listScheduledPlaces(tx, project.id))
      releaseUsage(tx, mailbox_id, day);
  },
};
