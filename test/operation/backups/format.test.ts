/** The archive: tar reads it, every damage is found, whatever byte it hits, and what is no backup is told apart from a damaged one. */
import { describe, expect, test } from 'bun:test';
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackupReader, BackupWriter, DATABASE, SUMS } from '../../../src/operation/backups/format.ts';
import { blobIdOf, blobName, decodeHeader, encodeHeader } from '../../../src/platform/files/archive.ts';
import { ArchiveStream } from '../../../src/platform/files/archive-source.ts';
import { makeTempDir } from '../../support/temp.ts';

const dir = makeTempDir();
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const BLOB = blobName(ID);
const CREATED_MS = Date.parse('2020-01-15T12:00:00Z');

function put(name: string, bytes: Uint8Array | string): string {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  return path;
}

async function add(
  writer: BackupWriter,
  name: string,
  bytes: string,
  claims: { size_bytes?: number; sha256?: string } = {},
): Promise<boolean> {
  const fd = openSync(put('content', bytes), 'r');
  try {
    return await writer.writeFile(name, { fd, size_bytes: bytes.length, sha256: null, ...claims });
  } finally {
    closeSync(fd);
  }
}

/** The bytes of an archive in a file, which are those that an outlet has, too. */
async function write(fill: (writer: BackupWriter) => Promise<unknown>): Promise<Buffer> {
  const path = put('written', '');
  const fd = openSync(path, 'w');
  const writer = new BackupWriter(fd, CREATED_MS);
  await fill(writer);
  expect(await writer.finish()).toBe(readFileSync(path).length);
  closeSync(fd);
  const written = readFileSync(path);
  const { passed_on } = await writeTo(fill);
  expect(passed_on.equals(written)).toBe(true);
  return written;
}

/** As `write`, to an outlet; `most` is how large its file was at most. */
async function writeTo(fill: (writer: BackupWriter) => Promise<unknown>) {
  const pieces: Buffer[] = [];
  const fd = openSync(put('scratch', ''), 'w+');
  let most = 0;
  const writer = new BackupWriter(fd, CREATED_MS, async (bytes) => {
    most = Math.max(most, fstatSync(fd).size);
    await new Promise((done) => setImmediate(done));
    pieces.push(Buffer.from(bytes));
  });
  await fill(writer);
  const size_bytes = await writer.finish();
  expect(fstatSync(fd).size).toBe(0);
  closeSync(fd);
  const passed_on = Buffer.concat(pieces);
  expect(passed_on.length).toBe(size_bytes);
  return { passed_on, most };
}

/** Pieces of odd sizes, and none, as a pipe may give them. */
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const size = [1, 600, 0, 511, 70_000][at % 7] ?? 9_000;
    yield bytes.slice(at, at + size);
    yield bytes.slice(at + size, at + size + 1);
    at += size + 1;
  }
}

/** What a whole read comes to, of a file as of a stream: names and contents, or the message of the refusal. */
async function read(bytes: Uint8Array | string): Promise<string> {
  const path = put('read', bytes);
  const of_file = await readFrom(() => path);
  const stream = inPieces(Buffer.from(bytes));
  const of_stream = await readFrom(() => ArchiveStream.begin(stream));
  expect(of_stream).toBe(of_file);
  return of_file;
}

async function readFrom(open: () => string | Promise<ArchiveStream>): Promise<string> {
  let reader: BackupReader | null = null;
  try {
    reader = new BackupReader(await open());
    const seen: string[] = [];
    for (let entry = await reader.next(); entry; entry = await reader.next()) {
      let content = '';
      await reader.read((chunk) => {
        content += new TextDecoder().decode(chunk);
      });
      seen.push(`${entry.name}:${content}`);
    }
    return seen.join(' ');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `refused: ${error.message.replace(join(dir, 'read'), 'FILE').replace('(standard input)', 'FILE')}`;
  } finally {
    reader?.close();
  }
}

const whole = await write(async (writer) => {
  await add(writer, BLOB, 'bytes of a file');
  await add(writer, DATABASE, 'the database');
});

test('what is written is what is read', async () => {
  expect(await read(whole)).toBe(`${BLOB}:bytes of a file ${DATABASE}:the database`);
});

test('tar unpacks it to files of their owner alone, and sha256sum finds them whole', () => {
  const target = makeTempDir();
  const archive = put('archive.tar', whole);
  const shell = (command: string): string => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-c', command], { cwd: target });
    expect([command, exitCode, stderr.toString()]).toEqual([command, 0, '']);
    return stdout.toString();
  };
  const listed = shell(`tar -tvf '${archive}'`).trim().split('\n');
  expect(listed.map((line) => [line.slice(0, 10), line.split(' ').at(-1)])).toEqual(
    ['satchel-backup.json', BLOB, DATABASE, SUMS].map((name) => ['-rw-------', name]),
  );
  shell(`tar -xf '${archive}'`);
  expect(readFileSync(join(target, BLOB), 'utf8')).toBe('bytes of a file');
  expect(shell(`sha256sum --check --strict ${SUMS}`)).toBe(
    `satchel-backup.json: OK\n${BLOB}: OK\n${DATABASE}: OK\n`,
  );
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
}, 60_000);

test('a file whose content is damaged is named', async () => {
  const damaged = Buffer.from(whole);
  damaged.write('BYTES', damaged.indexOf('bytes of a file'));
  expect(await read(damaged)).toContain(`the file ${BLOB} and what SHA256SUMS tells of it differ`);
});

test('a file cut off at any length is refused', async () => {
  for (let length = 0; length < whole.length; length += 1) {
    expect(await read(whole.subarray(0, length))).toStartWith('refused: ');
  }
  expect(await read(whole.subarray(0, 1600))).toBe(
    'refused: The backup FILE is damaged or cut off: it ends after 1600 bytes, in the middle of a file.',
  );
}, 60_000);

test('a byte behind the end is refused', async () => {
  expect(await read(Buffer.concat([whole, Buffer.from([0])]))).toEndWith('something follows its end.');
});

test('a lost or an added file is refused though the rest is whole', async () => {
  const start = whole.indexOf(BLOB);
  const end = whole.indexOf(DATABASE);
  const without = Buffer.concat([whole.subarray(0, start), whole.subarray(end)]);
  expect(await read(without)).toContain('SHA256SUMS tells of it differ');
  const file = whole.subarray(start, end);
  const twice = Buffer.concat([whole.subarray(0, end), file, whole.subarray(end)]);
  expect(await read(twice)).toContain('SHA256SUMS tells of it differ');
  const sums = whole.indexOf(SUMS);
  const at_the_end = Buffer.concat([whole.subarray(0, sums), file, whole.subarray(sums)]);
  expect(await read(at_the_end)).toStartWith('refused: ');
});

describe('what is no backup is called so', () => {
  const other = Buffer.concat([
    encodeHeader({ name: 'readme', size_bytes: 0, mtime_s: 0 }),
    Buffer.alloc(1024),
  ]);
  test.each([
    ['nothing', ''],
    ['text', 'hello, this is no backup at all'.repeat(100)],
    ['a database', 'SQLite format 3\0'.repeat(100)],
    ['an empty archive', Buffer.alloc(10_240)],
    ["another's archive", other],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toContain('is not a backup of Satchel');
  });
});

test('a newer format is named with the one this Satchel reads', async () => {
  const newer = Buffer.from(whole);
  newer.write('2', newer.indexOf('"format":1') + '"format":'.length);
  expect(await read(newer)).toContain('in format 2; this one reads format 1');
});

test('a missing file is refused', () => {
  expect(() => new BackupReader(join(dir, 'nowhere'))).toThrow("can't be read");
});

test('a name becomes a path only where it is that of an object', () => {
  expect(blobIdOf(BLOB)).toBe(ID);
  for (const name of [`../${BLOB}`, `/${BLOB}`, `objects/../objects/AV/${ID}`, BLOB.toLowerCase(), 'objects'])
    expect([name, blobIdOf(name)]).toEqual([name, null]);
});

test('what is not as promised leaves no trace, whether it is still buffered or long on the disk', async () => {
  const large = 'x'.repeat(3 * 1024 * 1024);
  const bytes = await write(async (writer) => {
    expect(await add(writer, BLOB, 'kept')).toBe(true);
    for (const gone of ['small', large])
      expect(await add(writer, BLOB, gone, { sha256: 'f'.repeat(64) })).toBe(false);
    expect(await add(writer, BLOB, 'short', { size_bytes: 1000 })).toBe(false);
    expect(await add(writer, DATABASE, 'the database')).toBe(true);
  });
  expect(await read(bytes)).toBe(`${BLOB}:kept ${DATABASE}:the database`);
});

test('a content larger than every buffer goes through', async () => {
  const large = 'abcdefghij'.repeat(400_000);
  expect(await read(await write((writer) => add(writer, BLOB, large)))).toBe(`${BLOB}:${large}`);
});

test('an outlet has what no hash is known of as it comes, and the rest once it is whole', async () => {
  const large = 'abcdefghij'.repeat(800_000);
  const sha256 = new Bun.CryptoHasher('sha256').update(large).digest('hex');
  expect((await writeTo((writer) => add(writer, BLOB, large, { sha256 }))).most).toBeWithin(7e6, 8e6);
  expect((await writeTo((writer) => add(writer, DATABASE, large))).most).toBeLessThanOrEqual(2 ** 20);
});

test('more files than one buffer holds hashes of go through', async () => {
  const bytes = await write(async (writer) => {
    for (let n = 0; n < 12_000; n += 1) await add(writer, BLOB, '');
  });
  expect((await read(bytes)).split(' ')).toHaveLength(12_000);
}, 60_000);

test('a file of more than eight gigabytes has a header that tar reads', () => {
  const entry = { name: DATABASE, size_bytes: 9_000_000_000_000, mtime_s: 0 };
  const header = encodeHeader(entry);
  expect(decodeHeader(header)).toEqual(entry);
  const { stdout } = Bun.spawnSync(['tar', '-tvf', put('large.tar', header)], { stderr: 'ignore' });
  expect(stdout.toString()).toContain(' 9000000000000 ');
});
