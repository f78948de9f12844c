/** Idempotency-Key on POST /emails/send: one email for one key, however often and however concurrently it is sent. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { addDomain, rows, type Sender, senderOf, startSender } from './setup.ts';

let sender: Sender;

beforeAll(async () => {
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null);
});

function countEmails(): unknown {
  return rows(sender.app, 'SELECT count(*) AS n FROM emails')[0];
}

describe('the same key and body', () => {
  test('sent many times at once is one email with one answer', async () => {
    const headers = { 'Idempotency-Key': 'order-1' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => sender.send({}, headers)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    const replayed = answers.map((answer) => answer.headers.get('idempotent-replayed'));
    expect(replayed.filter((header) => header === null)).toHaveLength(1);
    expect(replayed.filter((header) => header === 'true')).toHaveLength(11);
    expect(countEmails()).toEqual({ n: 1 });
  });

  test('answers a synchronous send once more, and sends it once', async () => {
    const headers = { 'Idempotency-Key': 'order-2' };
    const send = () => sender.send({ queue: false }, headers);
    const [first, second] = await Promise.all([send(), send()]);
    expect(first.status).toBe(201);
    expect(second.text).toBe(first.text);
    const replayed = [first, second].map(({ headers }) => headers.get('idempotent-replayed'));
    expect(new Set(replayed)).toEqual(new Set([null, 'true']));
    expect((await send()).text).toBe(first.text);
    expect(countEmails()).toEqual({ n: 2 });
  });

  test('answers the same a day later no more', async () => {
    const headers = { 'Idempotency-Key': 'order-3' };
    const first = await sender.send({}, headers);
    sender.app.clock.advance(24 * 3_600_000 - 1);
    expect((await sender.send({}, headers)).body.id).toBe(first.body.id);
    sender.app.clock.advance(1);
    expect((await sender.send({}, headers)).body.id).not.toBe(first.body.id);
  });
});

test('another body under the same key is 409', async () => {
  const headers = { 'Idempotency-Key': 'order-4' };
  expect((await sender.send({}, headers)).status).toBe(202);
  expect((await sender.send({ subject: 'Other' }, headers)).status).toBe(409);
});

test('of many bodies at once under the same key one is sent, and the others are told so', async () => {
  const headers = { 'Idempotency-Key': 'rivals' };
  const sent = await Promise.all(
    Array.from({ length: 10 }, (_, n) => sender.send({ subject: `rival ${n}` }, headers)),
  );
  expect(sent.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)]);
});

test('the key of an upload is no other one of a send', async () => {
  const headers = { 'Idempotency-Key': 'of an upload' };
  const body = new FormData();
  body.set('file', new Blob(['x']), 'a.txt');
  const { app, key } = sender;
  expect((await app.call('POST', '/api/v1/objects', { key, headers, body })).status).toBe(201);
  expect((await sender.send({}, headers)).status).toBe(409);
});

test('the same key of another API key is another request', async () => {
  const headers = { 'Idempotency-Key': 'order-5' };
  const key = await sender.project.key({ can_send_emails: true });
  const first = await sender.send({}, headers);
  const second = await senderOf(sender.app, sender.project, key).send({}, headers);
  expect(second.status).toBe(202);
  expect(second.body.id).not.toBe(first.body.id);
});

test('a refusal is not kept: neither a 422 nor a send that failed while the client waited', async () => {
  const headers = { 'Idempotency-Key': 'order-6' };
  expect((await sender.send({ domain: 'unknown.example' }, headers)).status).toBe(422);
  const bounce = { queue: false, to: 'defer@simulator.satchel.test' };
  const first = await sender.send(bounce, headers);
  const second = await sender.send(bounce, headers);
  expect([first.status, second.status]).toEqual([503, 503]);
  expect(second.body.email_id).not.toBe(first.body.email_id);
  expect((await sender.send({}, headers)).status).toBe(202);
});

test('a key of more than 255 characters is 422', async () => {
  expect((await sender.send({}, { 'Idempotency-Key': 'k'.repeat(256) })).status).toBe(422);
  expect((await sender.send({}, { 'Idempotency-Key': 'k'.repeat(255) })).status).toBe(202);
});

test('old answers are forgotten in small steps, and those of a clock that was ahead with them', async () => {
  const { app } = await startSender();
  const { database, idempotency, clock } = app.services;
  await database.write((tx) => {
    const answer = tx.$client.query(
      "INSERT INTO idempotent_answers VALUES ((SELECT id FROM projects), 'key:1', ?, 'h', 202, '{}', ?)",
    );
    for (let n = 0; n < 1_000; n += 1) answer.run(`old-${n}`, clock.now() - 25 * 3_600_000);
    answer.run('ahead', clock.now() + 25 * 3_600_000);
    answer.run('kept', clock.now());
  });
  const sweeping = idempotency.sweep();
  const left = await database.write(
    (tx) => tx.$client.query('SELECT count(*) FROM idempotent_answers').values()[0]?.[0],
  );
  expect(left).toBeGreaterThan(500);
  await sweeping;
  expect(rows(app, 'SELECT idempotency_key FROM idempotent_answers')).toEqual([{ idempotency_key: 'kept' }]);
  await app.stop();
});
