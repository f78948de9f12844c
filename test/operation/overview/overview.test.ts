/** The overview: whose numbers it has, what counts in which hour, and that it agrees with what is stored. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { actor, addCapturingMailbox, makeProject } from '../../support/helpers.ts';
import { codeOf, dataOf, type Management, startManagement } from '../../support/management.ts';

let stage: Management;
let keys: Record<string, string>;

beforeEach(async () => {
  stage = await startManagement();
  await addCapturingMailbox(stage.app);
  const make = (ref: string) =>
    stage.app.services.keys.create(actor, stage.app.services.projects.require(ref), {
      ...{ name: 'k', can_read: true, can_write: true, can_send_emails: true },
    });
  keys = { mine: (await make('mine')).plaintext_key, other: (await make('other')).plaintext_key };
});

async function upload(of: string, text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text]), 'a.txt');
  const { body } = await stage.app.call('POST', '/api/v1/objects', { key: keys[of] ?? '', body: form });
  return String(body.public_id);
}

const send = (of: string, fields = {}) =>
  stage.app.call('POST', '/api/v1/emails/send', {
    ...{ key: keys[of] ?? '', body: { to: 'ann@example.org', subject: 's', body_text: 'b', ...fields } },
  });

async function overview(token: string): Promise<Record<string, unknown>> {
  const answer = await stage.call('GET', '/overview', token);
  expect([answer.status, answer.text]).toMatchObject([200, expect.any(String)]);
  return dataOf(answer);
}

async function hours(token = stage.all): Promise<Record<string, unknown>[]> {
  const found = (await overview(token)).hours;
  return Array.isArray(found) ? found : [];
}

describe('the numbers', () => {
  test('are those of the projects that the token may see', async () => {
    await upload('mine', 'four');
    await upload('other', 'seventy');
    await send('mine', { scheduled_at: '2031-01-01T00:00:00Z' });
    await send('other');
    await stage.app.app.engine.whenIdle();
    expect(await overview(stage.scoped)).toMatchObject({
      ...{ projects: 1, api_keys: 1, objects: { count: 1, size_bytes: 4 } },
      emails: { scheduled: 1, queued: 0, sent: 0, failed: 0 },
      jobs: { pending: 1, processing: 0, completed: 0 },
    });
    expect(await overview(stage.all)).toMatchObject({
      ...{ projects: 2, api_keys: 2, objects: { count: 2, size_bytes: 11 } },
      emails: { scheduled: 1, sent: 1 },
      jobs: { pending: 1, completed: 1 },
    });
  });

  test('follow a file that is deleted and a project that goes', async () => {
    const id = await upload('mine', 'four');
    await upload('mine', 'two');
    await upload('other', 'seventy');
    await stage.app.call('DELETE', `/api/v1/objects/${id}`, { key: keys.mine ?? '' });
    expect(await overview(stage.scoped)).toMatchObject({ objects: { count: 1, size_bytes: 3 } });
    await send('other');
    await stage.app.app.engine.whenIdle();
    await stage.app.services.projects.remove(actor, 'other');
    expect(await overview(stage.all)).toMatchObject({
      ...{ projects: 1, objects: { count: 1, size_bytes: 3 }, emails: { sent: 0 } },
    });
    const left = stage.app.services.database.read.all(
      sql`SELECT * FROM email_hours WHERE project_id = ${stage.other.id}`,
    );
    expect(left).toEqual([]);
  });

  test('of lists, contacts and the rest are there as zeros where there is nothing', async () => {
    const token = await stage.makeToken({ projects: [(await makeProject(stage.app, 'empty')).slug] });
    const { hours: _, ...numbers } = await overview(token);
    expect(numbers).toMatchObject({
      ...{ projects: 1, api_keys: 0, objects: { count: 0, size_bytes: 0 }, email_schedules: 0 },
      ...{ contact_lists: 0, contacts: 0, suppressions: 0, sequences: 0 },
    });
  });
});

describe('the hours', () => {
  test('are 24, the present one last, and have what happened in each', async () => {
    await send('mine');
    await send('mine');
    await stage.app.app.engine.whenIdle();
    stage.app.clock.advance(2 * 3_600_000);
    await send('other');
    await stage.app.app.engine.whenIdle();
    const found = await hours();
    expect(found).toHaveLength(24);
    expect(found.at(-1)).toEqual({
      ...{ hour: '2030-01-15T14:00:00.000Z', sent: 1, bounced: 0, complained: 0, failed: 0 },
    });
    expect(found.at(-3)).toMatchObject({ hour: '2030-01-15T12:00:00.000Z', sent: 2 });
    expect(found.at(0)).toMatchObject({ hour: '2030-01-14T15:00:00.000Z', sent: 0 });
    const mine = await hours(stage.scoped);
    expect([mine.at(-1), mine.at(-3)]).toMatchObject([{ sent: 0 }, { sent: 2 }]);
  });

  test('have bounces and failures, and a mail that fails twice fails twice', async () => {
    const failing = await send('mine', { to: 'bounce@simulator.satchel.test' });
    await stage.app.app.engine.whenIdle();
    expect((await hours()).at(-1)).toMatchObject({ sent: 0, bounced: 1, failed: 0 });
    const { database } = stage.app.services;
    const id = String(failing.body.id);
    for (const at of [stage.app.clock.now(), null, stage.app.clock.now(), stage.app.clock.now()])
      await database.write((tx) => {
        tx.run(sql`UPDATE emails SET failed_at = ${at} WHERE id = ${id}`);
      });
    expect((await hours()).at(-1)).toMatchObject({ bounced: 1, failed: 2 });
  });

  test('are told by day as well where days are asked for: 7 or 30, of the projects that the token may see', async () => {
    await send('mine');
    await stage.app.app.engine.whenIdle();
    stage.app.clock.advance(6 * 86_400_000);
    await send('other', { to: 'bounce@simulator.satchel.test' });
    await stage.app.app.engine.whenIdle();
    const days = async (count: string, token = stage.all): Promise<unknown> =>
      dataOf(await stage.call('GET', `/overview?days=${count}`, token)).days;
    const none = { sent: 0, bounced: 0, complained: 0, failed: 0 };
    const week = ['15', '16', '17', '18', '19', '20', '21'].map((day) => ({
      date: `2030-01-${day}`,
      ...none,
    }));
    expect(await days('7')).toEqual(
      week.map((day, at) => ({ ...day, sent: +(at === 0), bounced: +(at === 6) })),
    );
    expect(await days('7', stage.scoped)).toEqual(week.map((day, at) => ({ ...day, sent: +(at === 0) })));
    expect(await days('30')).toHaveLength(30);
    expect(await overview(stage.all)).not.toHaveProperty('days');
    expect((await stage.call('GET', '/overview?days=8', stage.all)).status).toBe(422);
  });

  test('are forgotten once nobody is shown them', async () => {
    await send('mine');
    await stage.app.app.engine.whenIdle();
    const { emails, database } = stage.app.services;
    const rows = () => database.read.all(sql`SELECT n FROM email_hours`);
    stage.app.clock.advance(23 * 3_600_000);
    await emails.sweep();
    expect(rows()).toHaveLength(1);
    expect((await hours()).at(0)).toMatchObject({ sent: 1 });
    stage.app.clock.advance(31 * 86_400_000);
    await emails.sweep();
    expect(rows()).toEqual([]);
  });
});

describe('who sees it', () => {
  test('the machine is for administrators alone', async () => {
    expect(await overview(stage.all)).not.toHaveProperty('machine');
    expect(await overview(stage.scoped)).not.toHaveProperty('machine');
    const token = await stage.makeToken({ capabilities: ['can_administer'] });
    const { machine } = await overview(token);
    expect(machine).toEqual({
      disk_bytes: expect.any(Number),
      free_disk_bytes: expect.any(Number),
      database_bytes: expect.any(Number),
      version: expect.any(String),
    });
  });

  test('without a token it is 401', async () => {
    expect(codeOf(await stage.call('GET', '/overview', null))).toBe('MISSING_ACCESS_TOKEN');
  });
});
