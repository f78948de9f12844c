/** The life of a broadcast: which change is allowed when, and what its pauses, its end and its time come to. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { toIso } from '../../../src/platform/host/clock.ts';
import { actor } from '../../support/helpers.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from './setup.ts';

const HOUR_MS = 3_600_000;
let on: BroadcastApp;
beforeAll(async () => {
  on = await startBroadcastApp();
});
beforeEach(async () => {
  dataOf(await on.call('PATCH', '/email-marketing/settings', { daily_cap: null }));
});

let n = 0;
/** A list of so many contacts, with the beginning of their addresses. */
async function listOf(count: number): Promise<{ list: string; name: string }> {
  const list = await on.list();
  const name = `p${n++}-`;
  for (let i = 0; i < count; i += 1) await on.contact(list, `${name}${i}@example.com`);
  return { list, name };
}
const inHours = (hours: number): string => toIso(on.app.clock.now() + hours * HOUR_MS);
const sentTo = (name: string): number =>
  on.count(`SELECT count(*) AS n FROM emails WHERE to_email LIKE '${name}%' AND status = 'sent'`);

/** A broadcast to five people of which the daily cap let three go: it is sending, and two have yet to have their turn. */
async function startHalf(): Promise<{ id: string; name: string; list: string }> {
  const { list, name } = await listOf(5);
  const day = toIso(on.app.clock.now()).slice(0, 10);
  const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM marketing_usage WHERE day = '${day}'`);
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: used + 3 });
  const id = await on.broadcast(list);
  await on.send(id);
  expect(await on.show(id)).toMatchObject({
    status: 'sending',
    recipients: 5,
    stats: { sent: 3, to_come: 2 },
  });
  return { id, name, list };
}

test('each state allows what it allows, and nothing else', async () => {
  const { list } = await listOf(1);
  const draft = await on.broadcast(list);
  const scheduled = await on.broadcast(list);
  dataOf(await on.post(scheduled, 'send', { send_at: inHours(1) }), 202);
  const { id: sending } = await startHalf();
  const { id: paused } = await startHalf();
  dataOf(await on.post(paused, 'pause'));
  const { id: cancelled } = await startHalf();
  dataOf(await on.post(cancelled, 'cancel'));
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: null });
  const sent = await on.broadcast(list);
  dataOf(await on.post(sent, 'send'), 202);
  await on.app.app.engine.whenIdle();
  const states = { draft, scheduled, sending, paused, sent, cancelled };
  const allowed = {
    ...{ pause: ['sending'], resume: ['paused'], cancel: ['scheduled', 'sending', 'paused'] },
    ...{ send: ['draft', 'scheduled'], patch: ['draft', 'scheduled'], delete: ['draft', 'cancelled'] },
  };
  const before = Object.fromEntries(
    await Promise.all(Object.entries(states).map(async ([name, id]) => [name, (await on.show(id)).status])),
  );
  expect(before).toEqual({
    ...{ draft: 'draft', scheduled: 'scheduled', sending: 'sending', paused: 'paused', sent: 'sent' },
    cancelled: 'cancelled',
  });
  for (const [what, from] of Object.entries(allowed))
    for (const [name, id] of Object.entries(states)) {
      if (from.includes(name)) continue;
      const path = `/email-broadcasts/${id}`;
      const answer =
        what === 'patch'
          ? await on.call('PATCH', path, { name: 'Other' })
          : what === 'delete'
            ? await on.call('DELETE', path)
            : await on.post(id, what);
      expect([what, name, answer.status]).toEqual([what, name, 409]);
      expect([name, (await on.show(id)).status]).toEqual([name, name]);
    }
  for (const id of [draft, cancelled])
    expect((await on.call('DELETE', `/email-broadcasts/${id}`)).status).toBe(200);
  for (const id of [scheduled, sending, paused]) dataOf(await on.post(id, 'cancel'));
});

test('a pause in the middle stops it, and a resume goes on with those who had no turn', async () => {
  const { id, name } = await startHalf();
  const paused = dataOf(await on.post(id, 'pause'));
  expect(paused).toMatchObject({ status: 'paused', pause_reason: 'manual' });
  await on.pass(48);
  expect(sentTo(name)).toBe(3);
  expect(dataOf(await on.post(id, 'resume'))).toMatchObject({ status: 'sending', pause_reason: null });
  await on.pass();
  expect(sentTo(name)).toBe(5);
  expect(await on.show(id)).toMatchObject({ status: 'sent', recipients: 5, stats: { sent: 5, to_come: 0 } });
});

test('a cancel in the middle is the end: nobody gets it any more', async () => {
  const { id, name } = await startHalf();
  const over = dataOf(await on.post(id, 'cancel'));
  expect(over).toMatchObject({
    status: 'cancelled',
    stats: { sent: 3, to_come: 0 },
    finished_at: expect.any(String),
  });
  await on.pass(48);
  expect(sentTo(name)).toBe(3);
});

test('who left or was changed before their turn came is looked at then, and who was added is not', async () => {
  const { list, name } = await listOf(5);
  const ids = await Promise.all(
    [3, 4].map(async (i) => {
      const found = await on.call('GET', `/email-lists/${list}/contacts?q=${name}${i}`);
      return String((found.body.data as { id: string }[])[0]?.id);
    }),
  );
  const day = toIso(on.app.clock.now()).slice(0, 10);
  const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM marketing_usage WHERE day = '${day}'`);
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: used + 3 });
  const id = await on.broadcast(list, { filter: { tags_none: ['off'] } });
  await on.send(id);
  expect(await on.show(id)).toMatchObject({ stats: { to_come: 2 } });
  await on.call('POST', `/email-contacts/${ids[0]}/unsubscribe`);
  await on.call('PATCH', `/email-contacts/${ids[1]}`, { tags: ['off'] });
  await on.contact(list, `${name}new@example.com`);
  await on.pass(24);
  expect(await on.show(id)).toMatchObject({
    ...{ status: 'sent', recipients: 5, stats: { sent: 3 } },
    left_out: { total: 2, by_reason: { unsubscribed: 1, filter: 1 } },
  });
});

test('the mail is that of when it began, whatever becomes of template and settings', async () => {
  const { id, name } = await startHalf();
  await on.setTemplate('news', { subject: 'changed', is_active: false });
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: null, from_name: 'Other' });
  await on.pass(1);
  await on.setTemplate('news', { subject: 'news for {{first_name}}', is_active: true });
  await on.call('PATCH', '/email-marketing/settings', { from_name: 'Shop' });
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 5 } });
  expect(await on.got(`${name}4@example.com`)).toEqual(['news for there']);
  const froms = `SELECT count(*) AS n FROM emails WHERE to_email LIKE '${name}%' AND from_name = 'Shop'`;
  expect(on.count(froms)).toBe(5);
});

describe('scheduled', () => {
  test('it goes at its time, which may be changed, and without one it is a draft again', async () => {
    const { list, name } = await listOf(2);
    const id = await on.broadcast(list);
    const past = await on.post(id, 'send', { send_at: inHours(-1) });
    expect([past.status, past.body.errors]).toEqual([422, { send_at: [expect.stringContaining('future')] }]);
    const send_at = inHours(5);
    expect(dataOf(await on.post(id, 'send', { send_at }), 202)).toMatchObject({
      ...{ status: 'scheduled', send_at, recipients: null, started_at: null },
    });
    const path = `/email-broadcasts/${id}`;
    expect(dataOf(await on.call('PATCH', path, { send_at: null }))).toMatchObject({
      ...{ status: 'draft', send_at: null },
    });
    await on.pass(6);
    expect(sentTo(name)).toBe(0);
    expect((await on.call('PATCH', path, { send_at: inHours(1) })).status).toBe(422);
    dataOf(await on.post(id, 'send', { send_at: inHours(5) }), 202);
    const later = inHours(8);
    dataOf(await on.call('PATCH', path, { send_at: later, name: 'Later' }));
    await on.pass(7);
    expect(await on.show(id)).toMatchObject({ status: 'scheduled', send_at: later });
    await on.pass(1);
    expect(await on.show(id)).toMatchObject({ status: 'sent', recipients: 2, started_at: later });
    expect(sentTo(name)).toBe(2);
    const { data } = (await on.mirror('GET', '/audit?per_page=50')).body;
    const trail = (data as { target: string; event: string; actor_kind: string }[]).filter(
      ({ target }) => target === `broadcast:${id}`,
    );
    expect(trail.map(({ event }) => event)).toContain('broadcast.sent');
    expect(trail.find(({ event }) => event === 'broadcast.sent')).toMatchObject({
      metadata: { recipients: 2 },
    });
  });

  test('a template that broke before its time has it pause as not_ready; a resume begins it once mended', async () => {
    const { list, name } = await listOf(1);
    await on.template('breaks');
    const id = await on.broadcast(list, { template: 'breaks' });
    dataOf(await on.post(id, 'send', { send_at: inHours(1) }), 202);
    await on.setTemplate('breaks', { is_active: false });
    await on.pass(1);
    expect(await on.show(id)).toMatchObject({
      status: 'paused',
      pause_reason: 'not_ready',
      started_at: null,
    });
    expect(dataOf(await on.post(id, 'resume'))).toMatchObject({
      ...{ status: 'paused', pause_reason: 'not_ready' },
    });
    await on.setTemplate('breaks', { is_active: true });
    expect(dataOf(await on.post(id, 'resume'))).toMatchObject({ status: 'sending', recipients: 1 });
    await on.pass();
    expect([await on.show(id), sentTo(name)]).toMatchObject([{ status: 'sent' }, 1]);
  });

  test('one that nobody fits any more pauses, too', async () => {
    const { list } = await listOf(1);
    const id = await on.broadcast(list);
    dataOf(await on.post(id, 'send', { send_at: inHours(1) }), 202);
    dataOf(await on.call('PATCH', `/email-broadcasts/${id}`, { filter: { tags_any: ['nobody'] } }));
    await on.pass(1);
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'not_ready' });
    const found = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(found).toMatchObject({ problems: [{ code: 'nobody' }], recipients: 0, left_out: { total: 1 } });
    dataOf(await on.post(id, 'cancel'));
  });

  test('a server that was off for more than a day has it wait for a word, for less sends it late', async () => {
    const { list, name } = await listOf(1);
    const late = await on.broadcast(list);
    const on_time = await on.broadcast(list, { name: 'On time' });
    dataOf(await on.post(late, 'send', { send_at: inHours(1) }), 202);
    dataOf(await on.post(on_time, 'send', { send_at: inHours(4) }), 202);
    await on.pass(1 + 24 + 1);
    expect(await on.show(late)).toMatchObject({ status: 'paused', pause_reason: 'late', started_at: null });
    expect(await on.show(on_time)).toMatchObject({ status: 'sent' });
    expect(sentTo(name)).toBe(1);
    dataOf(await on.post(late, 'resume'));
    await on.pass();
    expect([await on.show(late), sentTo(name)]).toMatchObject([{ status: 'sent' }, 2]);
  });

  test('a clock that is set back has it wait for its time all the same', async () => {
    const { list, name } = await listOf(1);
    const id = await on.broadcast(list);
    dataOf(await on.post(id, 'send', { send_at: inHours(2) }), 202);
    await on.pass(-5);
    await on.pass(6);
    expect(sentTo(name)).toBe(0);
    await on.pass(1);
    expect(sentTo(name)).toBe(1);
  });
});

test('a clock that ran ahead while it was sending strands nobody', async () => {
  const { id, name } = await startHalf();
  await on.pass(-30 * 24);
  await on.app.services.broadcast_life.mend();
  await on.pass(1);
  await on.pass(24);
  expect([await on.show(id), sentTo(name)]).toMatchObject([{ status: 'sent' }, 5]);
  await on.pass(30 * 24);
});

test('it waits for the window and for a mailbox with capacity, and check counts who is still to get it', async () => {
  const { list, name } = await listOf(5);
  const hour = new Date(on.app.clock.now()).getUTCHours();
  const at = (hours: number): string => `${String((hour + hours) % 24).padStart(2, '0')}:00`;
  const window = { send_window_start: at(3), send_window_end: at(6) };
  dataOf(await on.call('PATCH', '/email-marketing/settings', window));
  const id = await on.broadcast(list);
  await on.send(id);
  await on.pass(1);
  expect([await on.show(id), sentTo(name)]).toMatchObject([{ status: 'sending' }, 0]);
  const { mailboxes } = on.app.services;
  const day = toIso(on.app.clock.now() + 2 * HOUR_MS).slice(0, 10);
  const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM mailbox_usage WHERE day = '${day}'`);
  await mailboxes.change(actor, 'hello@news.example.com', { daily_limit: used + 2 });
  await on.pass(2);
  expect(sentTo(name)).toBe(2);
  expect(dataOf(await on.call('GET', `/email-broadcasts/${id}/check`))).toMatchObject({ recipients: 3 });
  await mailboxes.change(actor, 'hello@news.example.com', { daily_limit: null });
  await on.pass(1);
  expect([await on.show(id), sentTo(name)]).toMatchObject([{ status: 'sent', stats: { sent: 5 } }, 5]);
  const open = { send_window_start: null, send_window_end: null };
  dataOf(await on.call('PATCH', '/email-marketing/settings', open));
});

test('its ETag is that of what people change, not of its numbers', async () => {
  const { list } = await listOf(1);
  const id = await on.broadcast(list);
  const etag = async () => (await on.mirror('GET', `/email-broadcasts/${id}`)).headers.get('etag');
  const draft = await etag();
  on.app.clock.advance(1_000);
  dataOf(await on.post(id, 'send'), 202);
  const sent = await etag();
  on.app.clock.advance(1_000);
  expect(sent).not.toBe(draft);
  await on.pass();
  expect([(await on.show(id)).status, await etag()]).toEqual(['sent', sent]);
});

test('sent twice at once it goes once, and what changes between its check and its start is not sent unseen', async () => {
  const { list, name } = await listOf(2);
  const twice = await on.broadcast(list);
  const both = await Promise.all([on.post(twice, 'send'), on.post(twice, 'send')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([202, 409]);
  await on.pass();
  expect(sentTo(name)).toBe(2);
  const changed = await on.broadcast(list);
  const filter = { tags_any: ['vip'] };
  const [sent, patched] = await Promise.all([
    on.post(changed, 'send'),
    on.call('PATCH', `/email-broadcasts/${changed}`, { filter }),
  ]);
  expect([sent.status, patched.status].toSorted((a, b) => a - b)).not.toEqual([200, 202]);
  await on.pass();
  expect(sentTo(name)).toBe(sent.status === 202 ? 4 : 2);
});

test('whoever is deleted before their turn is to come no more', async () => {
  const { id, name } = await startHalf();
  const shell = { kind: 'shell', id: '0', name: 't', ip: null } as const;
  for (const [who, to_come] of [
    ['0', 2],
    ['4', 1],
  ] as const) {
    await on.app.services.privacy.forget(shell, on.project, `${name}${who}@example.com`);
    expect(await on.show(id)).toMatchObject({ stats: { to_come } });
  }
  await on.pass(24);
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 4, to_come: 0 } });
});
