/** A file that was made to harm: whoever made it knows its passphrase, so its seal fits whatever it holds. */
import { afterEach, describe, expect, test } from 'bun:test';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import {
  LEFT_OUT,
  MANIFEST,
  openAbout,
  type ProjectFile,
  ProjectReader,
  ProjectWriter,
} from '../../../src/operation/transfers/format.ts';
import type { Manifest } from '../../../src/operation/transfers/manifest-store.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { blobName } from '../../../src/platform/files/archive.ts';
import { deriveMasterKey } from '../../../src/platform/secrets/master-key-source.ts';
import { actor, makeProject, startTestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { exported, imported, PASSPHRASE, startFilled } from './setup.ts';

const from = await startFilled();
const file = await exported(from.app, { is_copy: true });

/** The file with its texts changed by name and files of objects added, sealed anew. */
async function forged(change: Change, more: Record<string, string> = {}): Promise<string> {
  const about = openAbout(file).about as ProjectFile;
  const key = await deriveMasterKey(PASSPHRASE, about.salt);
  const path = join(makeTempDir(), 'forged');
  const fd = openSync(path, 'wx');
  const { project, salt, key_id, store, with_store } = about;
  const writer = new ProjectWriter(fd, Date.now(), {
    outlet: null,
    key,
    about: { project, salt, key_id, store, with_store },
  });
  const reader = new ProjectReader(file, key);
  const writeBytes = async (name: string, bytes: Uint8Array): Promise<void> => {
    const part = join(makeTempDir(), 'part');
    writeFileSync(part, bytes);
    const of = openSync(part, 'r');
    await writer.writeFile(name, { fd: of, size_bytes: bytes.length, sha256: null });
    closeSync(of);
  };
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    const chunks: Uint8Array[] = [];
    await reader.read((chunk) => void chunks.push(Uint8Array.from(chunk)));
    const bytes = Buffer.concat(chunks);
    if (entry.name === LEFT_OUT)
      for (const [name, text] of Object.entries(more)) await writeBytes(name, Buffer.from(text));
    if (entry.name.startsWith('objects/')) await writeBytes(entry.name, bytes);
    else writer.writeText(entry.name, change(entry.name, bytes.toString('utf8')));
  }
  reader.close();
  await writer.finish();
  closeSync(fd);
  return path;
}

type Change = (name: string, text: string) => string;

/** Something else in each row of a table. */
function rowsOf(table: string, change: () => Record<string, unknown>): Change {
  return (name, text) => {
    const [head = '', ...lines] = text.trimEnd().split('\n');
    const said: { table: string; columns: string[] } = name.startsWith('rows/') ? JSON.parse(head) : {};
    if (said.table !== table) return text;
    const changed = lines.map((line) => {
      const values: unknown[] = JSON.parse(line);
      const row = Object.fromEntries(said.columns.map((column, at) => [column, values[at]]));
      return JSON.stringify(Object.values({ ...row, ...change() }));
    });
    return `${[head, ...changed].join('\n')}\n`;
  };
}

function manifestWith(change: (manifest: Manifest) => Partial<Manifest>): Change {
  return (name, text) => {
    if (name !== MANIFEST) return text;
    const manifest: Manifest = JSON.parse(text);
    return JSON.stringify({ ...manifest, ...change(manifest) });
  };
}

const app = await startTestApp();
const victim = await makeProject(app, 'victim');
const key = await victim.key({ can_write: true, can_read: true });
const form = new FormData();
form.set('file', new Blob(['theirs']), 'a.txt');
const id = String((await app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id);
const theirs = () =>
  app.app.handle(new Request(`http://satchel.test/api/v1/objects/${id}`, { headers: { 'X-API-Key': key } }));
const messageOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'done', messageOfError);
const messageOfError = (error: unknown): string =>
  error instanceof AppError ? error.message : String(error);

afterEach(async () => {
  expect(await (await theirs()).text()).toBe('theirs');
});

describe('a forged file', () => {
  test('gives nothing of another project away to its own: neither by an attachment, nor by what a mail keeps', async () => {
    const attached = JSON.stringify([
      { public_id: id, filename: 'a.txt', mime_type: 'text/plain', size_bytes: 6 },
    ]);
    const named = `names the file ${id}, which another project has`;
    const mails = await forged(rowsOf('emails', () => ({ attachments: attached })));
    expect(await messageOf(imported(app, mails))).toContain(`A row of emails ${named}`);
    const pins = await forged(rowsOf('attachment_pins', () => ({ object_public_id: id })));
    expect(await messageOf(imported(app, pins))).toContain(`A row of attachment_pins ${named}`);
  });

  test('is refused in words where it has one thing twice, and nothing of it stays', async () => {
    const { database } = app.services;
    const before = () => database.read.$client.query('SELECT count(*) n FROM projects').all();
    const projects = before();
    const tokens = await forged(
      manifestWith(({ tokens: [first = {}, ...rest] }) => ({
        tokens: [first, { ...first, id: 999_999 }, ...rest],
      })),
    );
    const refused = await imported(app, tokens).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'invalid' });
    expect(messageOfError(refused)).toContain('has one token twice');
    const keys = await forged(manifestWith(({ data_keys }) => ({ data_keys: [...data_keys, ...data_keys] })));
    expect(await imported(app, keys).catch((error: unknown) => error)).toMatchObject({ kind: 'invalid' });
    expect(before()).toEqual(projects);
  });

  test('is refused where it is of another project than it says, or has keys for another', async () => {
    const { public_id } = app.services.projects.require('victim');
    const keys = await forged(
      manifestWith(({ data_keys }) => ({
        data_keys: data_keys.map((one) => ({ ...one, scope: `project:${public_id}` })),
      })),
    );
    expect(await messageOf(imported(app, keys))).toContain('another project than it says');
    const other = await forged(manifestWith(({ project }) => ({ project: { ...project, public_id } })));
    expect(await messageOf(imported(app, other))).toContain('another project than it says');
  });

  test("has nothing done that is the operator's, or is about what another project has", async () => {
    const job = (type: string, payload: object): Promise<string> =>
      forged(rowsOf('jobs', () => ({ type, status: 'pending', payload: JSON.stringify(payload) })));
    expect(await messageOf(imported(app, await job('backup.make', {})))).toContain("which is no project's");
    const { id: schedule_id } = await app.services.schedules.create(
      { project: app.services.projects.require('victim'), key: null, note: noNote },
      {
        name: 'a',
        cron_expression: '0 9 * * 1',
        recipients: [{ email: 'a@example.org' }],
        subject: 'a',
        body_text: 'a',
      },
    );
    expect(await messageOf(imported(app, await job('schedule.run', { schedule_id })))).toContain(
      `A row of jobs names the schedule ${schedule_id}, which another project has`,
    );
  });

  test.each([
    ['objects', 'mime_type', 'text/html\r\nSet-Cookie: a=b', 'no line breaks'],
    ['objects', 'mime_type', 'x'.repeat(10_000), 'at most'],
    ['objects', 'size_bytes', -1, 'not negative'],
    ['objects', 'size_bytes', 1.5, 'a whole number'],
    ['objects', 'size_bytes', '6', 'a whole number'],
    ['objects', 'public_id', '../../../etc/passwd', 'must be an id'],
    ['objects', 'original_filename', null, 'must not be null'],
    ['objects', 'store', 'nowhere', 'CHECK constraint'],
    ['emails', 'to_email', 'a@example.com\nBcc: b@example.com', 'no line breaks'],
    ['emails', 'headers', '{', 'must be JSON, an object'],
    ['emails', 'cc', '[5]', 'must be JSON, a list of texts'],
    ['sequences', 'steps', '{}', 'must be JSON, a list of objects'],
    ['broadcasts', 'utm', '[]', 'must be JSON, an object'],
    ['contact_lists', 'confirmed_url', 'javascript:alert(1)', 'must be an address that begins with https://'],
    ['webhooks', 'types', '5', 'must be JSON, a list of texts'],
    ['email_templates', 'variables', '[null]', 'or a list of objects'],
    ['contacts', 'email', { base64: 'AA==' }, 'must be a text'],
    ['captured_messages', 'raw', 'text', 'must be bytes'],
    ['vault_environments', 'name', '../production', 'must be a name such as staging'],
    ['vault_values', 'environment', 'Staging', 'must be a name such as staging'],
    ['vault_values', 'field', 'A;id', 'must be a name such as API_KEY'],
    ['vault_versions', 'service', '$(id)', 'must be a name such as API_KEY'],
  ])('with %s whose %s is %p is refused by name, and leaves nothing', async (table, field, value, why) => {
    const path = await forged(rowsOf(table, () => ({ [field]: value })));
    const refusal = await messageOf(imported(app, path));
    for (const word of [`A row of ${table}`, field, why]) expect(refusal).toContain(word);
    expect(app.services.projects.listAll({}).map(({ slug }) => slug)).toEqual(['victim']);
    expect(app.services.database.read.$client.query('SELECT count(*) FROM contacts').values()).toEqual([[0]]);
  });

  test('has its project and its tokens held to the same', async () => {
    const slug = await forged(manifestWith(({ project }) => ({ project: { ...project, slug: 'a\nb' } })));
    expect(await messageOf(imported(app, slug))).toContain(
      'A row of projects in the file is refused: its slug',
    );
    const hash = await forged(
      manifestWith(({ tokens }) => ({ tokens: tokens.map((one) => ({ ...one, token_hash: 5 })) })),
    );
    expect(await messageOf(imported(app, hash))).toContain('its token_hash must be a text');
    const bound = await forged(
      manifestWith(({ tokens }) => ({ tokens: tokens.map((one) => ({ ...one, environments: '["a b"]' })) })),
    );
    expect(await messageOf(imported(app, bound))).toContain('a list of names of environments');
  });

  test('brings no more environments than a vault may have, and nothing of one that it has not', async () => {
    const many: Change = (name, text) => {
      const line = text.split('\n').find((one) => one.includes('"staging"')) ?? '';
      if (!name.startsWith('rows/') || !text.includes('"table":"vault_environments"')) return text;
      return text + Array.from({ length: 10 }, (_, at) => `${line.replace('staging', `e-${at}`)}\n`).join('');
    };
    expect(await messageOf(imported(app, await forged(many)))).toContain('more than 10 environments');
    for (const table of ['vault_services', 'vault_values', 'vault_versions']) {
      const lost = await forged(rowsOf(table, () => ({ environment: 'nowhere' })));
      expect(await messageOf(imported(app, lost))).toContain('its environment nowhere is none of the file');
    }
  });

  test('has production inherit nothing', async () => {
    const path = await forged(rowsOf('vault_environments', () => ({ inherits: 1 })));
    const { id } = await imported(app, path);
    const project = app.services.projects.require(String(id));
    const shown = app.services.vault.environments.list(project, null);
    expect(shown.map(({ name, inherits }) => [name, inherits])).toEqual([
      ['production', false],
      ['staging', true],
    ]);
    await app.services.projects.remove(actor, project.public_id);
  });

  test('uses up no numbers of a table', async () => {
    const path = await forged(
      manifestWith(({ ranges }) => ({
        ranges: { ...ranges, contacts: { from: 1, to: Number.MAX_SAFE_INTEGER } },
      })),
    );
    expect(await messageOf(imported(app, path))).toContain('more rows than any project has');
  });

  test('replaces no bytes of another project, and brings no token for more than its own', async () => {
    const path = await forged(
      manifestWith(({ tokens }) => ({
        tokens: tokens.map((one) => ({ ...one, all_projects: 1, can_administer: 1 })),
      })),
      { [blobName(id)]: 'forged' },
    );
    const { tokens } = await imported(app, path);
    expect(tokens).toBeGreaterThan(0);
    const far = app.services.tokens.list().filter(({ all_projects }) => all_projects);
    expect(far).toEqual([]);
  });
});
