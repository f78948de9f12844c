/** Attachments: pinned at acceptance, so that what is sent is what was accepted, and let go when the mail is out. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import PostalMime from 'postal-mime';
import { makeProject, moveToFiles } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, errorsOf, rows, type Sender, startSender } from './setup.ts';

let sink: SmtpSink;
let sender: Sender;

beforeAll(async () => {
  sink = await startSmtpSink();
  sender = await startSender({ env: { SATCHEL_MAX_UPLOAD_BYTES: '20000000' } });
  await addDomain(sender.app, 'mail.example.com', sink);
});
afterAll(() => sink.stop());

async function put(
  content: Uint8Array<ArrayBuffer> | string,
  name = 'a.txt',
  key = sender.key,
  fields: Record<string, string> = {},
): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([content], { type: 'text/plain' }), name);
  const { status, body } = await sender.app.call('POST', '/api/v1/objects', { key, body: form });
  expect(status).toBe(201);
  return String(body.public_id);
}

function remove(id: string) {
  return sender.app.call('DELETE', `/api/v1/objects/${id}`, { key: sender.key });
}

function hasBytes(id: string): boolean {
  const held = rows(
    sender.app,
    `SELECT public_id FROM pinned_contents WHERE public_id = '${id}'
     UNION SELECT public_id FROM objects JOIN object_contents ON object_id = id WHERE public_id = '${id}'`,
  );
  return held.length > 0 || existsSync(sender.app.services.blobs.path(id));
}

const inHours = (hours: number): string => new Date(sender.app.clock.now() + hours * 3_600_000).toISOString();

describe.each(['the database', 'a file'])('an attachment in %s', (place) => {
  const upload = async (content: string, name?: string): Promise<string> => {
    const id = await put(content, name);
    if (place === 'a file') await moveToFiles(sender.app);
    expect(sender.app.services.objects.requireAny(id).store).toBe(place === 'a file' ? 'local' : 'database');
    return id;
  };

  test('arrives with its name, type and bytes, and stands in the log', async () => {
    const id = await upload('Grüße\r\n.\r\nfrom here', 'grüße.txt');
    const { body } = await sender.send({ attachments: [id] });
    await sender.settle();
    const message = await PostalMime.parse(sink.mails.at(-1)?.raw ?? '');
    const [attachment] = message.attachments;
    expect(attachment).toMatchObject({ filename: 'grüße.txt', mimeType: 'text/plain' });
    expect(Buffer.from(attachment?.content as ArrayBuffer).toString()).toBe('Grüße\r\n.\r\nfrom here');
    expect(await sender.log(body.id)).toMatchObject({
      attachments: [
        { public_id: id, filename: 'grüße.txt', mime_type: 'text/plain;charset=utf-8', size_bytes: 21 },
      ],
    });
  });

  test('of text says by its type that it is UTF-8, where its bytes alone did; the log has the type as sent', async () => {
    const head =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain';
    const { body: object } = await sender.app.call('POST', '/api/v1/objects', {
      ...{ key: sender.key, body: Buffer.from(`${head}\r\n\r\nGrüße\r\n--b--\r\n`) },
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    const { body } = await sender.send({ attachments: [object.public_id], scheduled_at: inHours(1) });
    await remove(String(object.public_id));
    await sender.pass(3_600_000);
    expect(sink.mails.at(-1)?.raw.toString()).toMatch(
      /\r\nContent-Type: text\/plain; (name=a\.txt; )?charset=utf-8/i,
    );
    const attachment = { filename: 'a.txt', mime_type: 'text/plain', size_bytes: 7 };
    const seen = [{ public_id: String(object.public_id), ...attachment }];
    expect((await sender.log(body.id)).attachments).toEqual(seen);
    const { emails } = sender.app.services;
    expect((await emails.readContent(sender.project, String(body.id))).attachments).toEqual(seen);
  });

  test('is sent though its object was deleted meanwhile, and its bytes go once the mail is out', async () => {
    const id = await upload('kept for the mail');
    await sender.send({ attachments: [id], scheduled_at: inHours(1) });
    expect((await remove(id)).status).toBe(200);
    expect(hasBytes(id)).toBe(true);
    await sender.pass(3_600_000);
    expect(sink.mails.at(-1)?.raw.toString()).toContain(Buffer.from('kept for the mail').toString('base64'));
    while (hasBytes(id)) await Bun.sleep(2);
    expect(rows(sender.app, 'SELECT * FROM attachment_pins')).toEqual([]);
  });

  test('keeps its bytes while a second mail waits, and after the mail while its object is there', async () => {
    const id = await upload('for two');
    await sender.send({ attachments: [id], scheduled_at: inHours(1) });
    const second = await sender.send({ attachments: [id, id], scheduled_at: inHours(2) });
    await sender.pass(3_600_000);
    expect(hasBytes(id)).toBe(true);
    await remove(id);
    expect(hasBytes(id)).toBe(true);
    await sender.app.call('DELETE', `/api/v1/emails/${second.body.id}/schedule`, { key: sender.key });
    expect(hasBytes(id)).toBe(false);
  });
});

test('without the bytes of its attachment a mail fails, and no relay is blamed for it', async () => {
  const id = await put('lost');
  await moveToFiles(sender.app);
  rmSync(sender.app.services.blobs.path(id));
  const answer = await sender.send({ attachments: [id], queue: false });
  expect(answer.status).toBe(422);
  expect(answer.body.message).toBe('The message could not be made; the email log says why.');
  expect(await sender.log(answer.body.email_id)).toMatchObject({
    status: 'failed',
    error: 'The message could not be made: The bytes of an attachment are gone.',
  });
});

describe('422 for attachments', () => {
  test('of another project, deleted or expired', async () => {
    const key = await (await makeProject(sender.app, 'other')).key({ can_write: true });
    const foreign = await put('theirs', 'a.txt', key);
    const deleted = await put('gone');
    await remove(deleted);
    const expires_at = new Date(sender.app.clock.now() + 60_000).toISOString();
    const expired = await put('over', 'a.txt', sender.key, { expires_at });
    sender.app.clock.advance(60_000);
    for (const id of [foreign, deleted, expired]) {
      const answer = await sender.send({ attachments: [id] });
      expect(answer.status).toBe(422);
      expect(errorsOf(answer, id)).toEqual(['attachments']);
    }
  });

  test('of more than 25 MB in all', async () => {
    const half = new Uint8Array(13 * 1024 * 1024);
    const ids = [await put(half, 'a.bin'), await put(half, 'b.bin')];
    const answer = await sender.send({ attachments: ids });
    expect(answer.status).toBe(422);
    expect(errorsOf(answer)).toEqual(['attachments']);
    expect((await sender.send({ attachments: ids.slice(0, 1) })).status).toBe(202);
  });
});
