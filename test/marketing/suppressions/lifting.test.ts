/** Lifting what suppresses an address: what it gives back to the people, one by one and in bulk, and what it does not. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { SuppressionKind } from '../../../src/marketing/suppressions/service.ts';
import { type Ran, run, runRecord } from '../../support/command.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list = '';
beforeEach(async () => {
  on = await startMarketingApp();
  list = await on.list();
});

const dir = (): string => on.app.data_dir;
async function remove(...args: string[]): Promise<Ran> {
  const ran = await run(dir(), 'suppression', 'remove', '--project', on.project.slug, ...args);
  // The command ran within this process: the server sees what it wrote from the next turn on.
  await Bun.sleep(1);
  return ran;
}

function leave(
  email: string,
  kind: Exclude<SuppressionKind, 'manual'>,
  mailbox: string | null = null,
  owner = on.project,
): Promise<unknown> {
  const { contacts, database } = on.app.services;
  return database.write((tx) => contacts.leave(tx, owner, email, kind, { mailbox }));
}

async function statusOf(email: string, of = list): Promise<unknown> {
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${of}/contacts?q=${email}`));
  return contact?.status;
}

const suppressionOf = async (email: string): Promise<Record<string, unknown> | undefined> =>
  rowsOf(await on.call('GET', `/email-suppressions?email=${email}`))[0];

function setStatus(email: string, changes: string): Promise<unknown> {
  return on.app.services.database.write((tx) =>
    tx.$client.run(`UPDATE contacts SET ${changes} WHERE email = ?`, [email]),
  );
}

describe('of a hard bounce', () => {
  test('it gives contacts the status that they had, on each list, and stands on the audit trail', async () => {
    const other = await on.list({ name: 'Other' });
    const ann = await on.contact(list, 'ann@example.com');
    await on.contact(other, 'ann@example.com');
    await setStatus('ann@example.com', `status = iif(public_id = '${ann.id}', 'active', 'pending')`);
    await leave('ann@example.com', 'hard_bounce');
    expect([await statusOf('ann@example.com'), await statusOf('ann@example.com', other)]).toEqual([
      'bounced',
      'bounced',
    ]);
    const refused = await remove('Ann@Example.com');
    expect([refused.exit, await statusOf('ann@example.com')]).toEqual([1, 'bounced']);
    const lifted = await remove('Ann@Example.com', '--yes');
    expect(lifted.stdout).toContain('contacts of it that bounced have the status that they had');
    expect([await statusOf('ann@example.com'), await statusOf('ann@example.com', other)]).toEqual([
      'active',
      'pending',
    ]);
    expect(await suppressionOf('ann@example.com')).toBeUndefined();
    const [event] = on.app.services.database.read.all<{ metadata: string }>(
      sql`SELECT metadata FROM audit_events WHERE event = 'suppression.lifted'`,
    );
    expect(JSON.parse(event?.metadata ?? '')).toMatchObject({
      kind: 'hard_bounce',
      contacts: [ann.id, expect.any(String)],
    });
    expect(event?.metadata).not.toContain('ann@');
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({ active_count: 1 });
  });

  test('by its id over HTTP likewise, which tells no address', async () => {
    for (const name of ['ann', 'bob', 'cy']) {
      await on.contact(list, `${name}@example.com`);
      await leave(`${name}@example.com`, 'hard_bounce');
    }
    const bob = await suppressionOf('bob@example.com');
    const archived = await on.list({ name: 'Archived' });
    await on.contact(archived, 'dee@example.com');
    await leave('dee@example.com', 'hard_bounce');
    await on.call('POST', `/email-lists/${archived}/archive`);
    const dee = await suppressionOf('dee@example.com');
    expect((await on.mirror('DELETE', `/email-suppressions/${bob?.id}`)).status).toBe(200);
    expect((await on.mirror('DELETE', `/email-suppressions/${dee?.id}`)).status).toBe(200);
    const statuses = ['ann', 'bob', 'cy'].map((name) => statusOf(`${name}@example.com`));
    expect(await Promise.all(statuses)).toEqual(['bounced', 'active', 'bounced']);
    expect(await statusOf('dee@example.com', archived)).toBe('active');
    expect((await on.mirror('DELETE', `/email-suppressions/${bob?.id}`)).status).toBe(404);
  });

  test('one that bounced before its status was kept becomes active; an address without contacts is lifted as well', async () => {
    await on.contact(list, 'old@example.com');
    await leave('old@example.com', 'hard_bounce');
    await setStatus('old@example.com', 'status_before_bounce = NULL');
    await leave('nobody@example.com', 'hard_bounce');
    for (const name of ['old', 'nobody']) expect((await remove(`${name}@example.com`, '--yes')).exit).toBe(0);
    expect(await statusOf('old@example.com')).toBe('active');
    expect(await suppressionOf('nobody@example.com')).toBeUndefined();
  });

  test('whoever left by choice before it keeps that', async () => {
    await on.contact(list, 'ann@example.com');
    await leave('ann@example.com', 'unsubscribed');
    await remove('ann@example.com', '--yes');
    const other = await on.list({ name: 'Other' });
    await on.contact(other, 'ann@example.com');
    await leave('ann@example.com', 'hard_bounce');
    expect(await suppressionOf('ann@example.com')).toMatchObject({ kind: 'hard_bounce' });
    await remove('ann@example.com', '--yes');
    expect(await statusOf('ann@example.com')).toBe('unsubscribed');
    expect(await statusOf('ann@example.com', other)).toBe('active');
  });

  test('twice at once it is lifted once', async () => {
    await on.contact(list, 'ann@example.com');
    await leave('ann@example.com', 'hard_bounce');
    const lift = () => on.app.services.suppressions.lift(actor, on.project, { address: 'ann@example.com' });
    const ends = await Promise.allSettled([lift(), lift()]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('of a person who left by choice', () => {
  for (const [kind, status] of [
    ['unsubscribed', 'unsubscribed'],
    ['complaint', 'complained'],
  ] as const)
    test(`${kind}: it leaves the status, also where a bounce came before`, async () => {
      await on.contact(list, 'ann@example.com');
      await leave('ann@example.com', 'hard_bounce');
      await leave('ann@example.com', kind);
      const lifted = await remove('ann@example.com', '--yes');
      expect(lifted.stdout).toContain('stay so until the person signs up again by double opt-in');
      expect(await statusOf('ann@example.com')).toBe(status);
      expect(await suppressionOf('ann@example.com')).toBeUndefined();
    });
});

describe('in bulk', () => {
  const BULK = ['--kind', 'hard_bounce', '--since'];

  test('it lifts the hard bounces since a moment and no others, and says how many', async () => {
    for (const name of ['before', 'ann', 'bob', 'left', 'angry'])
      await on.contact(list, `${name}@example.com`);
    await leave('before@example.com', 'hard_bounce');
    on.app.clock.advance(60_000);
    const since = new Date(on.app.clock.now()).toISOString();
    for (const name of ['ann', 'bob', 'unlisted', 'angry']) await leave(`${name}@example.com`, 'hard_bounce');
    await leave('left@example.com', 'unsubscribed');
    await leave('angry@example.com', 'complaint');
    const other = await makeProject(on.app, 'other');
    await leave('ann@example.com', 'hard_bounce', null, other);

    const refused = await remove(...BULK, since);
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('lifts 3 suppressions')]);
    expect(
      await runRecord(dir(), 'suppression', 'remove', '--project', 'shop', ...BULK, since, '--yes'),
    ).toEqual({
      lifted: 3,
      restored: 2,
    });
    const statuses = ['before', 'ann', 'bob', 'left', 'angry'].map((name) => statusOf(`${name}@example.com`));
    expect(await Promise.all(statuses)).toEqual([
      'bounced',
      'active',
      'active',
      'unsubscribed',
      'complained',
    ]);
    const kinds = on.app.services.database.read.all<{ kind: string }>(
      sql`SELECT kind FROM suppressions ORDER BY kind`,
    );
    expect(kinds.map(({ kind }) => kind)).toEqual([
      'complaint',
      'hard_bounce',
      'hard_bounce',
      'unsubscribed',
    ]);
    const again = await remove(...BULK, since, '--yes');
    expect(again.stdout).toContain('0 suppressions of shop are lifted; 0 contacts');
  });

  test('whom somebody suppressed by hand, before a false bounce or after it, stays suppressed until that is lifted', async () => {
    const { suppressions } = on.app.services;
    const byHand = (email: string) => on.call('POST', '/email-suppressions', { email });
    for (const name of ['ann', 'bob']) await on.contact(list, `${name}@example.com`);
    expect((await byHand('ann@example.com')).status).toBe(201);
    for (const name of ['ann', 'bob']) await leave(`${name}@example.com`, 'hard_bounce');
    expect((await byHand('bob@example.com')).status).toBe(200);
    const lifted = await suppressions.liftBounces(actor, on.project, { since_ms: 0, mailbox: null });
    expect(lifted).toEqual({ lifted: 0, restored: 0 });
    for (const name of ['ann', 'bob']) {
      expect(await suppressionOf(`${name}@example.com`)).toMatchObject({ kind: 'manual' });
      await suppressions.lift(actor, on.project, { address: `${name}@example.com` });
      expect(await statusOf(`${name}@example.com`)).toBe('active');
    }
  });

  test('who complains meanwhile stays away', async () => {
    await on.contact(list, 'ann@example.com');
    await leave('ann@example.com', 'hard_bounce');
    const { suppressions } = on.app.services;
    // Whichever of the two comes first.
    await Promise.all([
      suppressions.liftBounces(actor, on.project, { since_ms: 0, mailbox: null }),
      leave('ann@example.com', 'complaint'),
    ]);
    expect(await suppressionOf('ann@example.com')).toMatchObject({ kind: 'complaint' });
    expect(await statusOf('ann@example.com')).toBe('complained');
  });

  test('of one mailbox only what came back to that', async () => {
    for (const name of ['ann', 'bob', 'cy']) await on.contact(list, `${name}@example.com`);
    await leave('ann@example.com', 'hard_bounce', 'news@shop.example');
    await leave('bob@example.com', 'hard_bounce', 'other@shop.example');
    await leave('cy@example.com', 'hard_bounce');
    const done = await remove(...BULK, '2000-01-01T00:00:00Z', '--mailbox', 'News@shop.example', '--yes');
    expect(done.stdout).toContain('1 suppressions of shop are lifted');
    const statuses = ['ann', 'bob', 'cy'].map((name) => statusOf(`${name}@example.com`));
    expect(await Promise.all(statuses)).toEqual(['active', 'bounced', 'bounced']);
  });

  test('more than a transaction and a piece of contacts holds are all lifted', async () => {
    const count = 120;
    for (let n = 0; n < count; n++) {
      await on.contact(list, `many${n}@example.com`);
      await leave(`many${n}@example.com`, 'hard_bounce');
    }
    expect(
      await runRecord(
        dir(),
        'suppression',
        'remove',
        '--project',
        'shop',
        ...BULK,
        '2000-01-01T00:00:00Z',
        '--yes',
      ),
    ).toEqual({ lifted: count, restored: count });
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({ active_count: count });
  });

  test('wrong usage says what would be right', async () => {
    const WRONG: [args: string[], words: string][] = [
      [[], 'Name the address'],
      [['--kind', 'hard_bounce'], '--since'],
      [[...BULK, 'yesterday'], '--since takes a time'],
      [['--kind', 'complaint', '--since', '6h'], 'hard_bounce only'],
      [['ann@example.com', ...BULK, '6h'], 'give no address'],
      [['ann@example.com', '--mailbox', 'a@b.example'], 'give no address'],
    ];
    for (const [args, words] of WRONG)
      expect(await remove(...args, '--yes')).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining(words),
      });
  });
});

test('the mailbox whose mail came back is noted, from the relay and from a report', async () => {
  const { sending_domains, mailboxes, deliveries, database } = on.app.services;
  await sending_domains.add(actor, { name: 'shop.example.com', is_trusted: true, is_default: true });
  await mailboxes.add(actor, { address: 'News@shop.example.com', relay: null, daily_limit: null });
  const key = await on.project.key({ can_send_emails: true });
  const send = async (to: string): Promise<string> => {
    const body = { to, subject: 's', body_text: 't' };
    const { id } = (await on.app.call('POST', '/api/v1/emails/send', { key, body })).body;
    await on.app.app.engine.whenIdle();
    return String(id);
  };
  await send('bounce@simulator.satchel.test');
  const id = await send('ann@example.com');
  await database.write((tx) => deliveries.report(tx, id, 'bounced', { words: 'unknown' }));
  expect(database.read.all<{ mailbox: string }>(sql`SELECT mailbox FROM suppressions`)).toEqual([
    { mailbox: 'news@shop.example.com' },
    { mailbox: 'news@shop.example.com' },
  ]);
});
