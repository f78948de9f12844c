/** A project's activity: what counts on which day, whose it is, and that its days are forgotten. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { ProjectRow } from '../../../src/access/projects/service.ts';
import { run, runRecord } from '../../support/command.ts';
import { actor, addCapturingMailbox } from '../../support/helpers.ts';
import {
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

const DAY_MS = 86_400_000;
let stage: Management;
let key = '';
let key_id = 0;

beforeEach(async () => {
  stage = await startManagement();
  await addCapturingMailbox(stage.app);
  const made = await stage.app.services.keys.create(actor, stage.mine, {
    ...{ name: 'web', can_read: true, can_write: true, can_send_emails: true },
  });
  ({ plaintext_key: key, id: key_id } = made);
});

async function upload(text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text]), 'a.txt');
  return String((await stage.app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id);
}

async function send(fields = {}): Promise<string> {
  const mail = { to: 'ann@example.org', subject: 's', body_text: 'b', ...fields };
  const { body } = await stage.app.call('POST', '/api/v1/emails/send', { key, body: mail });
  await stage.app.app.engine.whenIdle();
  return String(body.id);
}

const activityOf = (ref: string, query = '', token = stage.all) =>
  stage.call('GET', `/projects/${ref}/activity${query}`, token);
const write = (statement: ReturnType<typeof sql>) =>
  stage.app.services.database.write((tx) => void tx.run(statement));
const QUIET = { sent: 0, failed: 0, bounced: 0, complained: 0, clicked: 0, uploads: 0, bytes: 0 };

describe('the days', () => {
  test('are seven or thirty, the present one last, with what happened on each', async () => {
    const email = await send();
    await stage.app.call('DELETE', `/api/v1/objects/${await upload('four')}`, { key });
    stage.app.clock.advance(2 * DAY_MS);
    await upload('two');
    await upload('three');
    await write(sql`UPDATE emails SET clicked_at = ${stage.app.clock.now()} WHERE id = ${email}`);
    await write(sql`UPDATE emails SET clicked_at = ${stage.app.clock.now() + 5} WHERE id = ${email}`);
    await send({ to: 'bounce@simulator.satchel.test' });
    await send({ to: 'complaint@simulator.satchel.test' });
    const { days, storage } = dataOf(await activityOf('mine'));
    expect(days).toEqual([
      ...['2030-01-11', '2030-01-12', '2030-01-13', '2030-01-14'].map((date) => ({ date, ...QUIET })),
      { date: '2030-01-15', ...QUIET, sent: 1, uploads: 1, bytes: 4 },
      { date: '2030-01-16', ...QUIET },
      { date: '2030-01-17', ...QUIET, sent: 1, bounced: 1, complained: 1, clicked: 1, uploads: 2, bytes: 8 },
    ]);
    expect(storage).toEqual({ objects: 2, bytes: 8 });
    const month = dataOf(await activityOf('mine', '?days=30')).days;
    expect(Array.isArray(month) ? [month.length, month[0], month.slice(-7)] : []).toEqual([
      30,
      { date: '2029-12-19', ...QUIET },
      days,
    ]);
    expect(dataOf(await activityOf('other'))).toMatchObject({
      days: Array.from({ length: 7 }, () => QUIET),
      ...{ last_errors: [], sign_ups: [], storage: { objects: 0, bytes: 0 }, keys: [] },
    });
  });

  test('are forgotten once nobody is shown them', async () => {
    await send();
    await upload('four');
    const rows = () =>
      stage.app.services.database.read.all(
        sql`SELECT n FROM email_hours UNION ALL SELECT bytes FROM upload_days`,
      );
    const sweep = async () => {
      await stage.app.services.emails.sweep();
      await stage.app.services.objects.sweepDays();
    };
    stage.app.clock.advance(29 * DAY_MS);
    await sweep();
    const { days } = dataOf(await activityOf('mine', '?days=30'));
    expect(Array.isArray(days) && days[0]).toMatchObject({ sent: 1, uploads: 1 });
    stage.app.clock.advance(3 * DAY_MS);
    await sweep();
    expect(rows()).toEqual([]);
  });
});

test('the last ten mails that were not delivered come with why, the latest first', async () => {
  for (let n = 0; n < 12; n += 1) {
    stage.app.clock.advance(60_000);
    await send({ to: 'bounce@simulator.satchel.test' });
  }
  const failed = await send();
  await write(
    sql`UPDATE emails SET status = 'failed', failed_at = ${stage.app.clock.now() + 9}, error = 'No relay.' WHERE id = ${failed}`,
  );
  const errors = listOf({
    ...(await activityOf('mine')),
    body: { data: dataOf(await activityOf('mine')).last_errors },
  });
  expect(errors).toHaveLength(10);
  expect(errors[0]).toEqual({
    ...{ email_id: failed, status: 'failed', to: 'ann@example.org', error: 'No relay.' },
    at: expect.stringMatching(/Z$/),
  });
  expect(errors[1]).toMatchObject({ status: 'bounced', error: expect.stringContaining('5.1.1') });
  const at = errors.map((error) => String(error.at));
  expect(at).toEqual(at.toSorted().reverse());
});

test('who came to a list last comes first, of every list of the project and of no other', async () => {
  const listOfName = async (project: string, name: string) =>
    String(dataOf(await stage.call('POST', `/projects/${project}/email-lists`, stage.all, { name })).id);
  const come = (project: ProjectRow, list: string, name: string) => {
    stage.app.clock.advance(1000);
    const now = stage.app.clock.now();
    return write(sql`INSERT INTO contacts (public_id, project_id, list_id, email, status, contact_token, consent_basis, consent_at,
        source_platform, status_changed_at, created_at, updated_at)
      SELECT ${name}, ${project.id}, id, ${`${name}@example.com`}, 'active', ${name}, 'consent', ${now}, 'api', ${now}, ${now}, ${now}
      FROM contact_lists WHERE public_id = ${list}`);
  };
  const [news, offers] = [await listOfName('mine', 'News'), await listOfName('mine', 'Offers')];
  for (const name of ['ann', 'bob', 'cid', 'dan']) await come(stage.mine, news, name);
  await come(stage.mine, offers, 'eve');
  await come(stage.mine, news, 'fay');
  await come(stage.other, await listOfName('other', 'Theirs'), 'gus');
  const told = dataOf(await activityOf('mine')).sign_ups;
  expect(told).toMatchObject([
    { email: 'fay@example.com', list: 'News', status: 'active', at: expect.stringMatching(/Z$/) },
    { email: 'eve@example.com', list: 'Offers' },
    ...['dan', 'cid', 'bob'].map((name) => ({ email: `${name}@example.com`, list: 'News' })),
  ]);
});

test('keys come with their last use', async () => {
  await upload('four');
  await stage.app.services.keys.create(actor, stage.mine, { name: 'unused' });
  expect(dataOf(await activityOf('mine')).keys).toEqual([
    { id: key_id, name: 'web', last_used_at: expect.any(String) },
    { id: expect.any(Number), name: 'unused', last_used_at: null },
  ]);
});

test('another number of days is 422, and another project 404', async () => {
  for (const days of ['8', '0', '07', '', 'x']) {
    const answer = await activityOf('mine', `?days=${days}`);
    expect([days, answer.status, invalidFieldsOf(answer)]).toEqual([days, 422, ['days']]);
  }
  expect((await activityOf('other', '', stage.scoped)).status).toBe(404);
  expect((await activityOf('mine', '', stage.scoped)).status).toBe(200);
});

test('the shell shows the same', async () => {
  await send({ to: 'bounce@simulator.satchel.test' });
  await upload('four');
  const dir = stage.app.data_dir;
  const shown = await run(dir, 'project', 'activity', 'mine');
  expect(shown.exit).toBe(0);
  // The shell goes by the machine's own clock.
  expect(shown.stdout).toMatch(
    /^DATE +SENT +FAILED +BOUNCED +COMPLAINED +CLICKED +UPLOADS +SIZE\n(.*0 B\n){7}/,
  );
  expect(shown.stdout).toContain('Stored: 1 file, 4 B.');
  expect(shown.stdout).toMatch(/^2030-01-15T\S+ bounced \w{26} to bounce@simulator.satchel.test: .*5.1.1/m);
  expect(await runRecord(dir, 'project', 'activity', 'mine', '--days', '30')).toMatchObject({
    storage: { objects: 1 },
  });
  expect((await run(dir, 'project', 'activity', 'mine', '--days', '8')).exit).toBe(2);
  expect((await run(dir, 'project', 'activity', 'nobody')).exit).toBe(1);
});
