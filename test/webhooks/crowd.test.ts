/** More receivers that hang than there are connections: whoever answers is told all the same. */
import { expect, test } from 'bun:test';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import type { Answer } from '../../src/platform/http/exchange.ts';
import { actor } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { startWebhookApp } from './setup.ts';

const PROJECTS = 4;
const HOOKS = 17;
const AT_ONCE = 256;

test('receivers that hang hold up others for one try at most, and then never again', async () => {
  const on = await startWebhookApp();
  const { webhooks, projects, database, webhook_events, sender } = on.app.services;
  const held: (() => void)[] = [];
  let answered = 0;
  sender.send = ({ message }): Promise<Answer> => {
    if (!message.startsWith('POST /slow')) {
      answered += 1;
      const said = { content_type: null, body: '', is_cut: false };
      return Promise.resolve({ status: 200, said, behind_ms: 0 });
    }
    const failure = { failure: 'no answer within 15 s', is_unreached: false, is_ours: false };
    return new Promise((resolve) => held.push(() => resolve(failure)));
  };
  const tell = (project_ids: readonly number[]) =>
    database.write((tx) => {
      for (const id of project_ids)
        for (let n = 0; n < 4; n += 1) webhook_events.tell(tx, id, 'object.created', () => ({ data: { n } }));
    });
  const crowd: number[] = [];
  for (let n = 0; n < PROJECTS; n += 1) {
    const project = await projects.create(actor, { name: `crowd-${n}`, slug: `crowd-${n}` });
    crowd.push(project.id);
    for (let hook = 0; hook < HOOKS; hook += 1)
      await webhooks.create(project, { url: `${on.receiver.url}/slow` }, noNote);
  }
  await on.hook('/quick');
  await tell(crowd);
  await until(() => held.length === AT_ONCE);
  await tell([on.project.id]);
  await Bun.sleep(50);
  expect([held.length, answered]).toEqual([AT_ONCE, 0]);
  // Their first try is over: what is left of the crowd comes, and whoever waited.
  for (const release of held.splice(0)) release();
  await until(() => answered === 4 && held.length === PROJECTS * HOOKS * 4 - AT_ONCE);
  for (const release of held.splice(0)) release();
  const tried = `SELECT count(*) AS n FROM webhook_deliveries WHERE attempts = 1 AND status = 'waiting'`;
  await until(() => database.read.$client.query<{ n: number }, []>(tried).get()?.n === PROJECTS * HOOKS * 4);
  // From then on those that fail leave half of the connections to others.
  on.pass(3_600_000);
  await until(() => held.length === AT_ONCE / 2);
  await tell([on.project.id]);
  await until(() => answered === 8);
  expect(held.length).toBe(AT_ONCE / 2);
});
