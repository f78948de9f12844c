/** Broadcasts and sequences on bad days: a full disk, and faults of ours; they go on by themselves. */
import { beforeEach, expect, test } from 'bun:test';
import { toIso } from '../../../src/platform/host/clock.ts';
import { until } from '../../support/until.ts';
import { addContacts } from '../sequences/setup.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from './setup.ts';

let on: BroadcastApp;
beforeEach(async () => {
  on = await startBroadcastApp();
});

const COUNT = 150;
const sent = () => on.count("SELECT count(*) AS n FROM emails WHERE status = 'sent'");

/** The database may have so many pages more than it has; null: as many as it likes. */
const limitDisk = (pages: number | null) =>
  on.app.services.database.write((tx) => {
    const used = Number(tx.$client.query('PRAGMA page_count').values()[0]?.[0]);
    tx.$client.run(`PRAGMA max_page_count = ${pages === null ? 2 ** 31 : used + pages}`);
  });

/** Has it happen on a full disk, which then is no longer full. */
async function onFullDisk(start: () => Promise<unknown>): Promise<void> {
  await limitDisk(20);
  await start();
  await until(() => on.app.logs().includes('could not write'));
  expect(sent()).toBeLessThan(COUNT);
  await limitDisk(null);
  on.app.clock.advance(1_000);
  await on.pass();
}

test('a full disk stops a broadcast no longer than it is full', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  const id = await on.broadcast(list);
  await onFullDisk(async () => dataOf(await on.post(id, 'send'), 202));
  await until(() => sent() === COUNT);
  expect(await on.show(id)).toMatchObject({ stats: { sent: COUNT, waiting: 0, lost: 0 } });
}, 30_000);

test('nor a sequence', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  const id = await on.active(list, [{ key: 'a', template: 'news', delay_hours: 0, is_final: true }]);
  dataOf(await on.call('POST', `/email-sequences/${id}/pause`));
  await on.enroll(id);
  await onFullDisk(async () => dataOf(await on.call('POST', `/email-sequences/${id}/resume`)));
  await until(() => sent() === COUNT);
}, 30_000);

test('a sequence or broadcast whose job ended by a fault of ours is given another', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  const id = await on.active(list, [{ key: 'a', template: 'news', delay_hours: 0, is_final: true }]);
  dataOf(
    await on.post(await on.broadcast(list), 'send', { send_at: toIso(on.app.clock.now() + 60_000) }),
    202,
  );
  await on.app.app.engine.whenIdle();
  await on.app.services.database.write((tx) => {
    tx.$client.run("UPDATE jobs SET status = 'failed', finished_at = 1 WHERE status = 'pending'");
  });
  await on.enroll(id);
  on.app.clock.advance(60_000);
  await on.pass();
  expect(sent()).toBe(0);
  await on.app.services.sequence_life.sweep();
  await on.app.services.broadcast_life.mend();
  await on.pass();
  await until(() => sent() === 2 * COUNT);
}, 30_000);
