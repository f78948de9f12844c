/** Answers to a message that an app handed in by SMTP for several: each recipient has a mail of their own, and one Message-ID is on all. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readMailReply } from '../../../src/platform/mail/mail-replies.ts';
import { actor } from '../../support/helpers.ts';
import { addDomain, rows, type Sender } from '../emails/setup.ts';
import { handIn, messageFrom, portOf, type RawClient, signedIn, startTaking } from '../submission/setup.ts';

const DOMAIN = 'shop.example.com';
const RECIPIENTS = ['ann@example.org', 'Bob@example.org', 'cy@example.org'];

let on: Sender;
let client: RawClient;
beforeAll(async () => {
  on = await startTaking();
  await addDomain(on.app, DOMAIN, null, { is_default: true });
  client = await signedIn(portOf(on), on.key);
});
afterAll(() => client.close());

/** Takes an answer to a Message-ID, as if it had come to an inbox of a domain; whose mail it is one to. */
async function answer(message_id: string, from: string, domain = DOMAIN): Promise<string | null> {
  const message = `From: ${from}\r\nSubject: Re: Hello\r\nMessage-ID: <${crypto.randomUUID()}@x>\r\nIn-Reply-To: ${message_id}\r\n\r\nYes.\r\n`;
  const reply = await readMailReply(Buffer.from(message));
  if (!reply) throw new Error('it is no reply');
  const { replies, database } = on.app.services;
  const taken = await database.write((tx) => replies.take(tx, reply, { domain, arrived_at: null }));
  return taken && toOf(taken.email_id);
}

const toOf = (id: string): string =>
  String(
    (rows(on.app, `SELECT to_email FROM emails WHERE id = '${id}'`) as { to_email: string }[])[0]?.to_email,
  );

const answered = (message_id: string): unknown[] =>
  rows(on.app, `SELECT to_email FROM emails WHERE message_id = '${message_id}' AND replied_at IS NOT NULL`);

async function send(message_id: string): Promise<string> {
  const message = messageFrom(`hello@${DOMAIN}`, { fields: [`Message-ID: ${message_id}`] });
  const reply = await handIn(client, message, RECIPIENTS);
  expect(reply).toStartWith('250 ');
  await on.settle();
  return reply.slice(-26);
}

test('an answer is to the mail of whom it is from, whatever the case, else to the first', async () => {
  const message_id = '<several@app.example>';
  const first = await send(message_id);
  expect(await answer(message_id, 'BOB@example.ORG')).toBe('Bob@example.org');
  expect(answered(message_id)).toEqual([{ to_email: 'Bob@example.org' }]);
  expect(await answer(message_id, 'cy@example.org')).toBe('cy@example.org');
  expect(await answer(message_id, 'colleague@example.org')).toBe('ann@example.org');
  const { replies, deliveries, privacy } = on.app.services;
  const owner = { id: Number(on.project.id), public_id: on.project.public_id };
  expect(replies.list(owner, first, {}).data).toMatchObject([
    { from: 'colleague@example.org', text: 'Yes.' },
  ]);
  const { story } = deliveries.explain(first);
  expect(story[0]).toContain(`by SMTP with the API key k (1) in project ${on.project.slug}`);
  expect(story.join('\n')).toContain('by colleague@example.org: Re: Hello');
  expect((await privacy.explain(owner, 'CY@example.org')).join('\n')).toMatch(
    /It answered a mail \S+: Re: Hello\. More: satchel email why [0-9A-Z]{26}$/m,
  );
});

test('where the first recipient was forgotten it is the next one, and where all were it is no reply', async () => {
  const message_id = '<forgotten@app.example>';
  await send(message_id);
  const { privacy, projects } = on.app.services;
  const forget = (address: string) => privacy.forget(actor, projects.require(on.project.slug), address);
  await forget('ann@example.org');
  expect(await answer(message_id, 'ann@example.org')).toBe('Bob@example.org');
  for (const address of RECIPIENTS) await forget(address);
  expect(await answer(message_id, 'colleague@example.org')).toBeNull();
});

test('one in the inbox of another domain, or one of the app itself, is none', async () => {
  const message_id = '<other@app.example>';
  await send(message_id);
  expect(await answer(message_id, 'Bob@example.org', 'other.example.com')).toBeNull();
  expect(await answer(message_id, `hello@${DOMAIN}`)).toBeNull();
  expect(answered(message_id)).toEqual([]);
});
