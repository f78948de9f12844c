/** A/B of a broadcast: its plan, its share, the decision, and what interrupts it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { drawShare } from '../../../src/marketing/broadcasts/ab.ts';
import { campaignChecks } from '../../../src/marketing/checks.ts';
import { toIso } from '../../../src/platform/host/clock.ts';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { addContacts } from '../sequences/setup.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from './setup.ts';

const HOUR_MS = 3_600_000;
const PLAN = {
  variants: [{ name: 'A' }, { name: 'B', subject: 'Better for {{first_name}}', preheader: 'Look' }],
  share: 40,
  decide_by: 'clicks',
  decide_after_hours: 4,
};
const MANUAL = { ...PLAN, decide_by: 'manual', decide_after_hours: undefined };

let on: BroadcastApp;
beforeAll(async () => {
  on = await startBroadcastApp();
});

let n = 0;
/** A list of so many. */
async function listOf(count: number): Promise<{ list: string; name: string }> {
  const list = await on.list();
  const name = `t${n++}x`;
  await addContacts(on, list, { name, count, custom: "'{}'" });
  return { list, name };
}
/** A broadcast of which the share had its turn. */
async function testing(plan: object = PLAN, count = 60): Promise<{ id: string; name: string; list: string }> {
  const { list, name } = await listOf(count);
  const id = await on.broadcast(list, { ab: plan });
  await on.send(id);
  expect((await on.show(id)).status).toBe('testing');
  return { id, list, name };
}
interface Ab {
  winner: string | null;
  decides_at: string | null;
  decided_at: string | null;
  results: {
    name: string;
    sent: number;
    untracked: number;
    clicked: number;
    unsubscribed: number;
    chance_best: number;
  }[];
}
const abOf = async (id: string): Promise<Ab> => (await on.show(id)).ab as Ab;
const rowsFor = (id: string) =>
  on.app.services.database.read.$client
    .query<
      { contact_id: number; public_id: string; variant: number | null; email_id: string; subject: string },
      [string]
    >(
      `SELECT r.contact_id, c.public_id, r.variant, r.email_id, e.subject FROM broadcast_recipients r
       JOIN broadcasts b ON b.id = r.broadcast_id JOIN contacts c ON c.id = r.contact_id JOIN emails e ON e.id = r.email_id
       WHERE b.public_id = ? ORDER BY r.contact_id`,
    )
    .all(id);
const write = (sql: string, ...values: (string | number)[]) =>
  on.app.services.database.write((tx) => tx.$client.query(sql).run(...values));
/** So many of the readers of a variant click. */
async function click(id: string, variant: number, count: number): Promise<void> {
  const { broadcast_life, database } = on.app.services;
  const readers = rowsFor(id).filter((row) => row.variant === variant);
  expect(readers.length).toBeGreaterThanOrEqual(count);
  await database.write((tx) => {
    for (const { email_id, contact_id } of readers.slice(0, count)) {
      const reading = { kind: 'clicked', is_test: false, at: on.app.clock.now(), contact_id, email_id };
      broadcast_life.onReading(tx, reading as Parameters<typeof broadcast_life.onReading>[1]);
    }
  });
}
/** That everybody on its list got one mail. */
function expectOneEach(name: string, count: number): void {
  const got = on.app.services.database.read.$client
    .query<{ n: number }, [string]>(
      'SELECT count(*) AS n FROM emails WHERE to_email LIKE ? GROUP BY to_email',
    )
    .all(`${name}%`);
  expect(got.map((row) => row.n)).toEqual(Array(count).fill(1));
}

describe('the plan', () => {
  test('is shown as it was given, with what becomes of it; null removes it, and a copy takes it without results', async () => {
    const { list } = await listOf(1);
    const id = await on.broadcast(list, { ab: PLAN });
    const fresh = { ...PLAN, decides_at: null, winner: null, decided_at: null, results: [] };
    expect((await on.show(id)).ab).toEqual(fresh);
    expect(dataOf(await on.mirror('GET', `/email-broadcasts/${id}`)).ab).toEqual(fresh);
    const patch = (body: unknown) => on.call('PATCH', `/email-broadcasts/${id}`, body);
    expect(dataOf(await patch({ name: 'Kept' })).ab).toEqual(fresh);
    expect(dataOf(await patch({ ab: MANUAL })).ab).toMatchObject({
      decide_by: 'manual',
      decide_after_hours: null,
    });
    expect((await patch({ ab: { ...MANUAL, decide_after_hours: null } })).status).toBe(200);
    expect(dataOf(await patch({ ab: null })).ab).toBeNull();
    const done = await testing();
    await click(done.id, 1, 1);
    await on.pass(4);
    const copy = dataOf(await on.post(done.id, 'copy'), 201);
    expect(copy).toMatchObject({ status: 'draft', ab: fresh });
    expect((await abOf(done.id)).results).toHaveLength(2);
  });

  test('is refused by field', async () => {
    const { list } = await listOf(1);
    const refused = async (changes: object) => {
      const body = { name: 'No', list, template: 'news', ab: { ...PLAN, ...changes } };
      const answer = await on.call('POST', '/email-broadcasts', body);
      return [answer.status, ...Object.keys((answer.body.errors ?? {}) as object)];
    };
    const [a, b] = PLAN.variants;
    expect(await refused({ variants: [a] })).toEqual([422, 'ab.variants']);
    expect(await refused({ variants: [1, 2, 3, 4, 5, 6].map((name) => ({ name: String(name) })) })).toEqual([
      ...[422, 'ab.variants'],
    ]);
    expect(await refused({ variants: [a, b, a] })).toEqual([422, 'ab.variants.2.name']);
    expect(await refused({ variants: [a, { name: 'B', subject: 'a\nb' }] })).toEqual([
      422,
      'ab.variants.1.subject',
    ]);
    expect(await refused({ variants: [a, { name: 'B', template: 'x' }] })).toEqual([
      422,
      'ab.variants.1.template',
    ]);
    expect(await refused({ share: 4 })).toEqual([422, 'ab.share']);
    expect(await refused({ share: 51 })).toEqual([422, 'ab.share']);
    expect(await refused({ decide_by: 'opens' })).toEqual([422, 'ab.decide_by']);
    expect(await refused({ decide_after_hours: 0 })).toEqual([422, 'ab.decide_after_hours']);
    expect(await refused({ decide_after_hours: 169 })).toEqual([422, 'ab.decide_after_hours']);
    expect(await refused({ decide_after_hours: undefined })).toEqual([422, 'ab.decide_after_hours']);
    expect(await refused({ decide_by: 'manual' })).toEqual([422, 'ab.decide_after_hours']);
    expect(await refused({ winner: 'A' })).toEqual([422, 'ab.winner']);
    expect((await refused({ share: 50, decide_after_hours: 168 }))[0]).toBe(201);
  });

  test('warns where chance would decide, which is not in the way; each variant can be looked at and tried', async () => {
    const { list } = await listOf(40);
    const id = await on.broadcast(list, { ab: PLAN });
    const check = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(check).toMatchObject({ ready: true, problems: [], warnings: [{ code: 'ab_small' }] });
    const shell = await run(on.app.data_dir, 'broadcast', 'check', id);
    expect([shell.exit, shell.stdout]).toEqual([0, expect.stringContaining('about 8 people')]);
    const preview = (query = '') => on.call('GET', `/email-broadcasts/${id}/preview${query}`);
    expect(dataOf(await preview('?variant=B'))).toMatchObject({
      subject: 'Better for there',
      preheader: 'Look',
    });
    expect(dataOf(await preview('?variant=A'))).toMatchObject({ subject: 'news for there', preheader: null });
    expect(dataOf(await preview())).toMatchObject({ subject: 'news for there' });
    expect((await preview('?variant=C')).status).toBe(422);
    const tried = await on.post(id, 'test', { to: 'try@example.com', variant: 'B' });
    expect(tried.status).toBe(202);
    await on.pass();
    expect(await on.got('try@example.com')).toEqual(['[Test] Better for there']);
    const wrong = await on.post(id, 'test', { to: 'try@example.com', variant: 'C' });
    expect([wrong.status, wrong.body.errors]).toMatchObject([422, { variant: ['must be one of A, B'] }]);
    const plain = await on.broadcast(list);
    expect((await on.post(plain, 'test', { to: 'try@example.com', variant: 'A' })).status).toBe(422);
    const { list: many } = await listOf(400);
    const large = await on.broadcast(many, { ab: { ...PLAN, share: 50 } });
    expect(dataOf(await on.call('GET', `/email-broadcasts/${large}/check`)).warnings).toEqual([]);
  });
});

describe('the draw of a share', () => {
  const planOf = (share: number, variants: number) => ({
    ...MANUAL,
    share,
    variants: Array.from({ length: variants }, (_, place) => ({ name: `V${place}` })),
  });
  const people = Array.from({ length: 400 }, (_, id) => ({ id, public_id: `c${id}` }));
  /** Draws in pieces of a size, as they are sent. */
  const drawn = (plan: ReturnType<typeof planOf>, broadcast: string, piece: number, limit = 1_000) => {
    const before = { seen: 0, got: plan.variants.map(() => 0) };
    const places = new Map<number, number>();
    const off: number[] = [];
    for (let from = 0; from < people.length; from += piece) {
      const some = people.slice(from, from + piece);
      for (const [id, place] of drawShare(plan as never, broadcast, { before, people: some, limit })) {
        places.set(id, place);
        before.got[place] = (before.got[place] ?? 0) + 1;
      }
      before.seen += some.length;
      const each = (before.seen * plan.share) / 100 / plan.variants.length;
      off.push(...before.got.map((n) => Math.abs(n - each)));
      expect(Math.max(...before.got) - Math.min(...before.got)).toBeLessThanOrEqual(1);
    }
    return { places, off: Math.max(...off), got: before.got };
  };

  test('is its percentage to within one a variant at each moment, in pieces of any size', () => {
    for (const share of [5, 7, 20, 33, 50])
      for (const variants of [2, 3, 5])
        for (const piece of [1, 3, 38, 400])
          expect([share, variants, piece, drawn(planOf(share, variants), 'b', piece).off < 1]).toEqual([
            ...[share, variants, piece, true],
          ]);
  });

  test('has nothing of the order in which people came: each place in a piece is as likely', () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 300; n += 1)
      for (const [id, place] of drawn(planOf(40, 2), `broadcast ${n}`, 40).places) {
        const where = `${place} ${id % 40 < 20 ? 'early' : 'late'} ${id % 2}`;
        counts.set(where, (counts.get(where) ?? 0) + 1);
      }
    // 300 times 400 people, of whom a fifth gets each variant, in four groups: some 6,000 each.
    expect(counts.size).toBe(8);
    for (const n of counts.values()) expect(Math.abs(n - 6_000)).toBeLessThan(400);
  });

  test('makes up later for what a limit kept back', () => {
    const { got, places } = drawn(planOf(50, 2), 'b', 10, 5);
    expect([got, places.size]).toEqual([[100, 100], 200]);
    const before = { seen: 0, got: [0, 0] };
    const first = drawShare(planOf(50, 2) as never, 'b', { before, people: people.slice(0, 40), limit: 4 });
    expect([...first.values()].toSorted()).toEqual([0, 0, 1, 1]);
    const later = { seen: 40, got: [2, 2] };
    const second = drawShare(planOf(50, 2) as never, 'b', {
      before: later,
      people: people.slice(40, 80),
      limit: 99,
    });
    expect([...second.values()].toSorted().join('')).toBe('0'.repeat(18) + '1'.repeat(18));
  });
});

describe('clicks decide', () => {
  test('the share has its turn by a hash, then after the hours the variant that was clicked most goes to the rest', async () => {
    const { id, name } = await testing(PLAN, 200);
    const before = await on.show(id);
    const share = rowsFor(id);
    expect(before).toMatchObject({
      recipients: 200,
      stats: { sent: share.length, to_come: 200 - share.length },
    });
    // 40 % of 200, half of them each.
    expect([0, 1].map((place) => share.filter(({ variant }) => variant === place).length)).toEqual([40, 40]);
    for (const { variant, subject } of share) expect(subject).toStartWith(variant === 0 ? 'news' : 'Better');
    const ab = await abOf(id);
    expect(ab).toMatchObject({ decides_at: toIso(on.app.clock.now() + 4 * HOUR_MS), winner: null });
    const of = (variant: number) => share.filter((row) => row.variant === variant).length;
    expect(ab.results.map(({ name: one, sent }) => [one, sent])).toEqual([
      ['A', of(0)],
      ['B', of(1)],
    ]);
    await click(id, 0, 2);
    await click(id, 1, 7);
    await on.pass(3.9);
    expect(await on.show(id)).toMatchObject({ status: 'testing', stats: { sent: share.length } });
    await on.pass(0.2);
    const after = await on.show(id);
    expect(after).toMatchObject({ status: 'sent', stats: { sent: 200, to_come: 0, clicked: 9 } });
    expect(after.ab).toMatchObject({ winner: 'B', decided_at: expect.any(String) });
    expectOneEach(name, 200);
    const rest = rowsFor(id).filter(({ variant }) => variant === null);
    expect(rest).toHaveLength(200 - share.length);
    for (const { subject } of rest) expect(subject).toStartWith('Better');
    // What the rest does is no result.
    await write(
      'UPDATE broadcast_recipients SET clicked_at = 1 WHERE email_id = ?',
      String(rest[0]?.email_id),
    );
    const { results } = await abOf(id);
    expect(results.map(({ clicked, sent }) => [clicked, sent])).toEqual([
      [2, of(0)],
      [7, of(1)],
    ]);
    expect(results[1]?.chance_best).toBeGreaterThan(0.8);
    expect((results[0]?.chance_best ?? 0) + (results[1]?.chance_best ?? 0)).toBeCloseTo(1, 1);
    const turns = rowsOf(await on.call('GET', `/email-broadcasts/${id}/recipients?per_page=100`));
    expect(new Set(turns.map(({ variant }) => variant))).toEqual(new Set(['A', 'B']));
    const decided = on.count("SELECT count(*) AS n FROM audit_events WHERE event = 'broadcast.decided'");
    expect(decided).toBeGreaterThan(0);
  });

  test('the share is of those who get a mail: who is left out, or lacks a value, makes it neither smaller nor lopsided', async () => {
    const { list, name } = await listOf(38);
    const emails = on.app.services.database.read.$client
      .query<{ email: string; id: number }, [string]>(
        'SELECT email, id FROM contacts WHERE email LIKE ? ORDER BY id',
      )
      .all(`${name}%`);
    for (const { email } of emails.slice(0, 9)) await on.call('POST', '/email-suppressions', { email });
    for (const { id } of emails.slice(12, 20))
      await write(`UPDATE contacts SET custom = '{"team":"red"}' WHERE id = ?`, id);
    const plan = {
      ...PLAN,
      variants: [{ name: 'A' }, { name: 'B' }, { name: 'C' }].map((one) => ({
        ...one,
        subject: 'For {{custom.team}}',
      })),
      share: 50,
    };
    // Of 38 nine are suppressed, and eight of the rest have a team.
    const few = await on.broadcast(list, { ab: plan });
    await on.send(few);
    expect(
      rowsFor(few)
        .map(({ variant }) => variant)
        .toSorted(),
    ).toEqual([0, 0, 1, 2]);
    const all = await on.broadcast(list, { ab: { ...PLAN, share: 20 } });
    await on.send(all);
    expect(
      rowsFor(all)
        .map(({ variant }) => variant)
        .toSorted(),
    ).toEqual([0, 0, 0, 1, 1, 1]);
    await on.pass(5);
    expect(await on.show(all)).toMatchObject({
      status: 'sent',
      stats: { sent: 29 },
      left_out: { by_reason: { suppressed: 9 } },
    });
    expect(await on.show(few)).toMatchObject({
      status: 'sent',
      stats: { sent: 8 },
      left_out: { by_reason: { no_value: 21 } },
    });
  });

  test('of variants that are alike, and where nobody clicked, the first wins', async () => {
    const none = await testing();
    const alike = await testing({ ...PLAN, share: 50 });
    const counts = [0, 1].map((place) => rowsFor(alike.id).filter(({ variant }) => variant === place).length);
    // As many in a hundred: all of both.
    await click(alike.id, 0, counts[0] ?? 0);
    await click(alike.id, 1, counts[1] ?? 0);
    await on.pass(5);
    for (const { id } of [none, alike]) expect(await abOf(id)).toMatchObject({ winner: 'A' });
  });

  test('a click counts against the mails of which clicks are known', async () => {
    const { id } = await testing({ ...PLAN, share: 50 });
    const of = (place: number) => rowsFor(id).filter(({ variant }) => variant === place);
    // Of the second but one mail is tracked, and clicked; of the first two of many are.
    for (const { email_id } of of(1).slice(1))
      await write('UPDATE broadcast_recipients SET is_untracked = 1 WHERE email_id = ?', email_id);
    await click(id, 0, 2);
    await click(id, 1, 1);
    const { results } = await abOf(id);
    expect(results).toMatchObject([
      { sent: of(0).length, untracked: 0, clicked: 2 },
      { sent: of(1).length, untracked: of(1).length - 1, clicked: 1 },
    ]);
    await on.pass(4);
    expect(await abOf(id)).toMatchObject({ winner: 'B' });
  });

  test('a share of nobody is decided as well, and what nobody clicked goes to all', async () => {
    const list = await on.list();
    const names = ['una', 'dos', 'tri'].map((name) => `${name}${n++}@example.com`);
    for (const name of names) await on.contact(list, name);
    const id = await on.broadcast(list, { ab: { ...PLAN, share: 5 } });
    await on.send(id);
    await on.pass(5);
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 3 } });
    for (const name of names) expect(await on.got(name)).toHaveLength(1);
  });
});

describe('somebody decides', () => {
  test('in testing and at no other time, by the name of a variant; the shell does as well', async () => {
    const { list } = await listOf(2);
    const draft = await on.broadcast(list, { ab: MANUAL });
    expect((await on.post(draft, 'decide', { variant: 'A' })).status).toBe(409);
    const { id, name } = await testing(MANUAL);
    await on.pass(200);
    expect(await on.show(id)).toMatchObject({ status: 'testing', ab: { decides_at: null, winner: null } });
    const wrong = await on.post(id, 'decide', { variant: 'C' });
    expect([wrong.status, wrong.body.errors]).toMatchObject([422, { variant: ['must be one of A, B'] }]);
    expect((await on.post(id, 'decide', {})).status).toBe(422);
    expect(dataOf(await on.post(id, 'decide', { variant: 'B' }))).toMatchObject({ ab: { winner: 'B' } });
    expect((await on.post(id, 'decide', { variant: 'A' })).status).toBe(409);
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 60 } });
    expectOneEach(name, 60);
    const early = await testing();
    const shell = await run(on.app.data_dir, 'broadcast', 'decide', early.id, '--variant', 'A');
    expect([shell.exit, shell.stdout]).toEqual([0, expect.stringContaining('gets A.')]);
    await on.pass();
    expect(await on.show(early.id)).toMatchObject({ status: 'sent', ab: { winner: 'A' } });
    expectOneEach(early.name, 60);
    expect((await run(on.app.data_dir, 'broadcast', 'show', early.id)).stdout).toContain('A (for the rest)');
    const inactive = await testing(MANUAL);
    const { projects } = on.app.services;
    const shop = projects.require('shop');
    await projects.update(actor, shop, { status: 'inactive' });
    const decide = on.app.services.broadcast_life.decide(actor, shop, inactive.id, 'A');
    await expect(decide).rejects.toMatchObject({ code: 'project_inactive' });
    await projects.update(actor, shop, { status: 'active' });
    dataOf(await on.post(inactive.id, 'cancel'));
  });

  test('doctor tells of one that waits for three days, and of none whose time is to come', async () => {
    const check = campaignChecks(on.app.services).find((one) => one.check === 'A/B tests');
    const told = async (): Promise<string> =>
      ((await check?.run()) ?? [])
        .map(({ status, message, remedy }) => `${status} ${message} ${remedy}`)
        .join('\n');
    const { id } = await testing(MANUAL);
    const late = await testing({ ...PLAN, decide_after_hours: 168 });
    await on.pass(71);
    expect(await told()).not.toContain('warning');
    await on.pass(1);
    expect(await told()).toContain('warning The A/B of the broadcast June of the project shop');
    dataOf(await on.post(id, 'decide', { variant: 'A' }));
    await on.pass();
    expect(await told()).not.toContain('warning');
    dataOf(await on.post(late.id, 'cancel'));
  });
});

describe('what interrupts it', () => {
  test('a pause in testing, from which it goes on testing, or is decided where its time came meanwhile', async () => {
    const { id, name } = await testing();
    const { decides_at } = await abOf(id);
    await click(id, 1, 3);
    dataOf(await on.post(id, 'pause'));
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'manual' });
    expect((await on.post(id, 'decide', { variant: 'A' })).status).toBe(409);
    await on.pass(1);
    expect(dataOf(await on.post(id, 'resume'))).toMatchObject({ status: 'testing', ab: { decides_at } });
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'testing' });
    dataOf(await on.post(id, 'pause'));
    await on.pass(60);
    expect(await on.show(id)).toMatchObject({ status: 'paused', ab: { winner: null } });
    expect(dataOf(await on.post(id, 'resume'))).toMatchObject({ status: 'sending', ab: { winner: 'B' } });
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 60 } });
    expectOneEach(name, 60);
  });

  test('a stop for more than a day past its time: it pauses as late, and a resume decides', async () => {
    const { id, name } = await testing();
    await on.pass(4 + 25);
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'late', ab: { winner: null } });
    const told = on.app.services.broadcasts.listPausedByThemselves().find((one) => one.id === id);
    expect(told?.why).toContain('its A/B was to be decided');
    dataOf(await on.post(id, 'resume'));
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 60 }, ab: { winner: 'A' } });
    expectOneEach(name, 60);
    const soon = await testing();
    await on.pass(4 + 23);
    expect(await on.show(soon.id)).toMatchObject({ status: 'sent' });
  });

  test('a cancel in testing: the rest gets nothing', async () => {
    const { id, name } = await testing();
    const share = rowsFor(id).length;
    dataOf(await on.post(id, 'cancel'));
    await on.pass(10);
    expect(await on.show(id)).toMatchObject({ status: 'cancelled', stats: { sent: share, to_come: 0 } });
    expect(on.count(`SELECT count(*) AS n FROM emails WHERE to_email LIKE '${name}%'`)).toBe(share);
  });

  test('a daily cap within the share and within the rest, pauses there, and a lost job', async () => {
    const day = () => toIso(on.app.clock.now()).slice(0, 10);
    const cap = async (more: number | null) => {
      const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM marketing_usage WHERE day = '${day()}'`);
      await on.call('PATCH', '/email-marketing/settings', { daily_cap: more === null ? null : used + more });
    };
    const { list, name } = await listOf(60);
    const id = await on.broadcast(list, { ab: { ...PLAN, share: 50 } });
    await cap(7);
    await on.send(id);
    expect(await on.show(id)).toMatchObject({
      status: 'sending',
      stats: { sent: 7, to_come: 53 },
      ab: { decides_at: null },
    });
    const check = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(check).toMatchObject({ recipients: 53, warnings: [] });
    dataOf(await on.post(id, 'pause'));
    dataOf(await on.post(id, 'resume'));
    expect(await on.show(id)).toMatchObject({ status: 'sending' });
    await cap(null);
    await on.pass(0.1);
    const share = rowsFor(id).length;
    expect(await on.show(id)).toMatchObject({
      status: 'testing',
      stats: { sent: share, to_come: 60 - share },
    });
    await write('UPDATE broadcasts SET job_id = NULL WHERE public_id = ?', id);
    on.app.clock.advance(4 * HOUR_MS);
    await cap(5);
    await on.app.services.broadcast_life.mend();
    await on.pass();
    expect(await on.show(id)).toMatchObject({
      status: 'sending',
      stats: { sent: share + 5, to_come: 55 - share },
    });
    const left = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(left.recipients).toBe(55 - share);
    dataOf(await on.post(id, 'pause'));
    expect(dataOf(await on.post(id, 'resume'))).toMatchObject({ status: 'sending', ab: { winner: 'A' } });
    await cap(null);
    await on.pass(0.1);
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 60, to_come: 0 } });
    expectOneEach(name, 60);
  });

  test('too much that comes back while it tests: it pauses', async () => {
    const { id } = await testing({ ...PLAN, share: 50 }, 300);
    const { broadcast_life, database } = on.app.services;
    const at = on.app.clock.now();
    await database.write((tx) => {
      for (const { email_id } of rowsFor(id).slice(-20))
        broadcast_life.onMail(tx, { email_id, kind: 'bounced', at, is_refused: false });
    });
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'bounce_threshold' });
    dataOf(await on.post(id, 'cancel'));
  });

  test('somebody of the rest who is forgotten meanwhile: it is one less to come', async () => {
    const { id, list } = await testing();
    const had = new Set(rowsFor(id).map(({ public_id }) => public_id));
    const everybody = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?per_page=100`));
    const one = everybody.find((contact) => !had.has(String(contact.id)));
    const other = everybody.find((contact) => had.has(String(contact.id)));
    const { to_come } = (await on.show(id)).stats as { to_come: number };
    const told = [...on.app.services.broadcasts.explainAddress(on.project.id, String(one?.email))];
    expect(told.join()).toContain('is testing, and its turn comes');
    for (const contact of [one, other])
      await on.app.services.privacy.forget(
        actor,
        on.app.services.projects.require('shop'),
        String(contact?.email),
      );
    expect(await on.show(id)).toMatchObject({ stats: { to_come: to_come - 1 } });
    await on.pass(5);
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 59, to_come: 0 } });
  });

  test('each state allows what it allows: testing is neither changed, sent nor deleted', async () => {
    const { id } = await testing();
    expect((await on.call('PATCH', `/email-broadcasts/${id}`, { ab: null })).status).toBe(409);
    expect((await on.post(id, 'send')).status).toBe(409);
    expect((await on.post(id, 'resume')).status).toBe(409);
    expect((await on.call('DELETE', `/email-broadcasts/${id}`)).status).toBe(409);
    dataOf(await on.post(id, 'cancel'));
    dataOf(await on.call('DELETE', `/email-broadcasts/${id}`));
  });
});
