/** The container: every damage is found, whatever byte it hits, and what is no backup is told apart from a damaged one. */
import { describe, expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackupReader, BackupWriter } from '../../src/backups/format.ts';
import { makeTempDir } from '../temp.ts';

const dir = makeTempDir();
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const ABOUT = {
  version: '0.1.0',
  created_at: '2030-01-15T12:00:00.000Z',
  master_key_id: '0123456789abcdef',
  passphrase_salt: null,
};

function put(name: string, bytes: Uint8Array | string): string {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  return path;
}

async function add(writer: BackupWriter, bytes: string, id: string | null, size_bytes = bytes.length) {
  const fd = openSync(put('content', bytes), 'r');
  try {
    return await writer.writeFile(id === null ? { kind: 'database' } : { kind: 'blob', id }, {
      fd,
      size_bytes,
    });
  } finally {
    closeSync(fd);
  }
}

async function write(fill: (writer: BackupWriter) => Promise<void>): Promise<Buffer> {
  const path = put('written', '');
  const fd = openSync(path, 'w');
  const writer = new BackupWriter(fd);
  writer.writeAbout(ABOUT);
  await fill(writer);
  expect(await writer.finish()).toBe(readFileSync(path).length);
  closeSync(fd);
  return readFileSync(path);
}

/** What a whole read comes to: kinds and contents, or the message of the refusal. */
async function read(bytes: Uint8Array | string): Promise<string> {
  let reader: BackupReader | null = null;
  try {
    reader = new BackupReader(put('read', bytes));
    const seen: string[] = [];
    for (let entry = reader.next(); entry; entry = reader.next()) {
      let content = '';
      await reader.read((chunk) => {
        content += new TextDecoder().decode(chunk);
      });
      seen.push(`${entry.kind}:${content}`);
    }
    return seen.join(' ');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `refused: ${error.message.replace(join(dir, 'read'), 'FILE')}`;
  } finally {
    reader?.close();
  }
}

const whole = await write(async (writer) => {
  await add(writer, 'bytes of a file', ID);
  await add(writer, 'the database', null);
});

test('what is written is what is read', async () => {
  expect(await read(whole)).toBe('blob:bytes of a file database:the database end:');
});

test('a flipped bit is found at every byte of the file', async () => {
  const accepted: number[] = [];
  for (let at = 0; at < whole.length; at += 1) {
    for (const bit of [0, 3, 7]) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ (1 << bit), at);
      if (!(await read(damaged)).startsWith('refused: ')) accepted.push(at);
    }
  }
  expect(accepted).toEqual([]);
});

test('a file cut off at any length is refused', async () => {
  for (let length = 0; length < whole.length; length += 1) {
    expect(await read(whole.subarray(0, length))).toStartWith('refused: ');
  }
  expect(await read(whole.subarray(0, 200))).toBe(
    'refused: The backup FILE is damaged or cut off: it ends after 200 bytes, in the middle of an entry.',
  );
});

test('a byte behind the end is refused', async () => {
  expect(await read(Buffer.concat([whole, Buffer.from([0])]))).toEndWith('something follows its end.');
});

test('a lost entry is refused though the rest is whole', async () => {
  const one = Buffer.from('"kind":"blob"');
  const start = whole.indexOf(one) - 5;
  const end = whole.indexOf(Buffer.from('"kind":"database"')) - 5;
  const without = Buffer.concat([whole.subarray(0, start), whole.subarray(end)]);
  expect(await read(without)).toContain('the checksum of the entry "database" does not fit');
});

describe('what is no backup is called so', () => {
  test.each([
    ['nothing', ''],
    ['text', 'hello, this is no backup at all'],
    ['a database', 'SQLite format 3\0'],
    ['an archive', Buffer.alloc(10_240)],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toContain('is not a backup of Satchel');
  });
});

test('a newer format is named with the one this Satchel reads', async () => {
  expect(await read(`satchel-backup 2\n${'x'.repeat(100)}`)).toContain(
    'in format 2; this one reads format 1',
  );
});

test('a missing file is refused', () => {
  expect(() => new BackupReader(join(dir, 'nowhere'))).toThrow("can't be read");
});

test('an entry that is taken back leaves no trace, whether it is still buffered or long on the disk', async () => {
  const large = 'x'.repeat(3 * 1024 * 1024);
  const bytes = await write(async (writer) => {
    await add(writer, 'kept', ID);
    for (const gone of ['small', large]) {
      await add(writer, gone, ID);
      writer.undo();
    }
    expect(await add(writer, 'short', ID, 1000)).toBeNull();
    writer.undo();
    await add(writer, 'the database', null);
    expect(writer.totals).toEqual({ blobs: 1, blob_bytes: 4 });
  });
  expect(await read(bytes)).toBe('blob:kept database:the database end:');
});

test('a content larger than every buffer goes through', async () => {
  const large = 'abcdefghij'.repeat(400_000);
  const bytes = await write(async (writer) => {
    await add(writer, large, ID);
  });
  expect(await read(bytes)).toBe(`blob:${large} end:`);
});
