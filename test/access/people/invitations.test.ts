/** Inviting and resetting by mail: who gets the link, what is answered instead, and what is refused before anything is made. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { atEnd } from '../../support/cleanup.ts';
import { run, runRecord } from '../../support/command.ts';
import { type Answer, actor } from '../../support/helpers.ts';
import { codeOf, dataOf } from '../../support/management.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { makeDataDir } from '../../support/temp.ts';
import { type Console, MANAGEMENT, ORIGIN, startConsole } from './setup.ts';

const CHIEF = 'chief@example.com';

let on: Console;
let sink: SmtpSink;
let cookie = '';

beforeAll(async () => {
  on = await startConsole();
  sink = await startSmtpSink();
  atEnd(() => sink.stop());
  await on.addPerson({ email: CHIEF, can_administer: true });
  cookie = await on.enter(CHIEF);
});

const add = (email: string, more: object = {}): Promise<Answer> =>
  on.ask('POST', `${MANAGEMENT}/people`, {
    cookie,
    body: { email, all_projects: true, send: true, ...more },
  });
const people = () =>
  on.app.services.database.read.all(sql`SELECT email, password_hash FROM people ORDER BY id`);
const relayTo = (port: number) => ({ relay: parseRelay(`smtp://127.0.0.1:${port}`) });

describe('before there is anything to mail from', () => {
  const refused = async (words: string): Promise<void> => {
    const before = people();
    const answer = await add('bob@example.com');
    expect([answer.status, codeOf(answer)]).toEqual([409, 'no_mailbox']);
    expect(answer.text).toContain(words);
    const reset = await on.ask('POST', `${MANAGEMENT}/people/${CHIEF}/reset`, {
      cookie,
      body: { send: true },
    });
    expect([reset.status, codeOf(reset)]).toEqual([409, 'no_mailbox']);
    expect(people()).toEqual(before);
  };

  test('nobody is added or reset: without a domain, without a mailbox, by one that captures or is paused', async () => {
    const { sending_domains, mailboxes } = on.app.services;
    await refused('satchel domain add');
    await sending_domains.add(actor, { name: 'mail.example.com', is_trusted: true });
    await refused('has no mailbox');
    await mailboxes.add(actor, { address: 'capture@mail.example.com', relay: null });
    await refused('captures its mail');
    await mailboxes.add(actor, { address: 'hello@mail.example.com', ...relayTo(sink.port) });
    await mailboxes.setStatus(actor, 'hello@mail.example.com', 'paused');
    await refused('is paused');
    await mailboxes.setStatus(actor, 'hello@mail.example.com', 'active');
  });
});

test('the link is mailed and in no answer, no log and no job; it works once', async () => {
  const answer = await add('ann@example.com', { name: 'Ann' });
  expect([answer.status, dataOf(answer)]).toMatchObject([
    201,
    { email: 'ann@example.com', name: 'Ann', sent: true },
  ]);
  const [mail] = await sink.waitForMails(1);
  expect(mail?.envelope).toEqual({ from: 'hello@mail.example.com', to: ['ann@example.com'] });
  const text = mail?.raw.toString().replaceAll('=\r\n', '') ?? '';
  const [link = ''] = /https:\/\/satchel\.test\/console\/welcome\/\S+/.exec(text) ?? [];
  expect(answer.text).not.toContain('/welcome/');
  const secret = link.split('/').at(-1) ?? '';
  const { database } = on.app.services;
  for (const table of ['audit_events', 'jobs', 'emails'])
    expect(JSON.stringify(database.read.all(sql.raw(`SELECT * FROM ${table}`)))).not.toContain(secret);
  expect(database.read.all(sql`SELECT id FROM emails`)).toEqual([]);
  const [event] = on.app.services.audit.listNewest({}, 1);
  expect(event).toMatchObject({
    event: 'person.invited',
    metadata: { email: 'ann@example.com', sent: true },
  });
  const welcome = () =>
    on.ask('POST', `/console/welcome/${secret}`, { body: { password: 'correct horse battery staple' } });
  expect((await welcome()).status).toBeLessThan(300);
  expect((await welcome()).status).toBeGreaterThanOrEqual(400);
});

test("who is reset gets a link too; a refusal is told in the relay's words, once, and they can be reset again", async () => {
  const reset = (): Promise<Answer> =>
    on.ask('POST', `${MANAGEMENT}/people/ann@example.com/reset`, { cookie, body: { send: true } });
  expect(dataOf(await reset())).toMatchObject({ sent: true });
  sink.behavior.rcpt = { 'ann@example.com': { code: 550, message: 'no such user' } };
  const answer = await reset();
  expect([answer.status, dataOf(answer)]).toMatchObject([
    200,
    { sent: false, words: expect.stringContaining('no such user') },
  ]);
  expect(dataOf(answer)).not.toHaveProperty('link');
  sink.behavior.rcpt = {};
  expect(
    dataOf(await on.ask('POST', `${MANAGEMENT}/people/ann@example.com/reset`, { cookie, body: {} })),
  ).toMatchObject({
    link: expect.stringContaining(`${ORIGIN}/console/welcome/`),
  });
});

test('a link that nobody else could open is not mailed to the world', async () => {
  const local = await startConsole({ env: { SATCHEL_PUBLIC_URL: 'http://localhost:7000' } });
  const { sending_domains, mailboxes, invitations } = local.app.services;
  await sending_domains.add(actor, { name: 'mail.example.com', is_trusted: true });
  await mailboxes.add(actor, {
    address: 'a@mail.example.com',
    relay: parseRelay('smtp://relay.example.com'),
  });
  const input = { email: 'bob@example.com', all_projects: true, send: true };
  expect(invitations.add(actor, null, input)).rejects.toMatchObject({ kind: 'conflict', code: 'public_url' });
  expect(local.app.services.people.listAll()).toEqual([]);
});

test('the command line mails it, and says what the relay said', async () => {
  const dir = makeDataDir();
  const none = await run(dir, 'person', 'add', 'bob@example.com', '--all-projects', '--send');
  expect([none.exit, none.stderr]).toEqual([1, expect.stringContaining('satchel domain add')]);
  await run(dir, 'domain', 'add', 'mail.example.com', '--trust');
  await run(dir, 'mailbox', 'add', 'hi@mail.example.com', '--smtp', `smtp://127.0.0.1:${sink.port}`);
  const before = sink.mails.length;
  const added = await runRecord(dir, 'person', 'add', 'bob@example.com', '--all-projects', '--send');
  expect(added).toMatchObject({ email: 'bob@example.com', sent: true });
  expect([sink.mails.length, 'link' in added]).toEqual([before + 1, false]);
  sink.behavior.rcpt = { 'bob@example.com': { code: 550, message: 'no such user' } };
  const refused = await run(dir, 'person', 'reset', 'bob@example.com', '--send');
  expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('no such user')]);
});
