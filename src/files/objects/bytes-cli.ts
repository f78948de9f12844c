/** `satchel object put | get`: streams bytes between files of this machine and of a project. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Projects } from '../../access/projects/service.ts';
import { AppError, errorCodeOf, invalid, messageOf } from '../../errors.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import { streamNamedFile } from '../../platform/cli/input.ts';
import { type Options, textOption, textOptions } from '../../platform/cli/options.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { declaredTypeOf, essenceOf, NONE } from '../../platform/files/media-types.ts';
import { bytesMissing } from '../../platform/files/store.ts';
import { asCallerAt } from '../../platform/host/ownership.ts';
import { formatBytes } from '../../platform/words/phrases.ts';
import type { ObjectRow, Objects } from './service.ts';

export interface ByteServices {
  projects: Projects;
  objects: Objects;
}

/** Registers `satchel object put | get`. */
export function registerByteCommands<S extends ByteServices>(cli: Cli<S>, object: Noun<S>): void {
  registerPut(cli, object);
  registerGet(cli, object);
}

const OPTION_OF_FIELD = {
  file: 'the file',
  expires_in_days: '--expires-in-days',
  expires_at: '--expires-at',
};

function registerPut<S extends ByteServices>(cli: Cli<S>, object: Noun<S>): void {
  object
    .verb('put <file>', 'store a file; - is standard input')
    .ofProject()
    .option('--name <name>', 'its name (that of the file)')
    .option('--type <type>', 'its media type; found by its bytes and its name unless given')
    .option('--public', 'everybody may fetch it; otherwise it takes a key or a link')
    .option('--expires-in-days <n>', 'delete it after so many days')
    .option('--expires-at <time>', 'delete it at this moment')
    .remark('As large as SATCHEL_MAX_UPLOAD_BYTES allows.')
    .example(
      'satchel object put logo.png --project shop --public',
      'tar -cz logo.png | satchel object put - --project shop --name site.tar.gz --expires-in-days 30',
    )
    .does(async ({ services, project, config, trail }, options, path) => {
      const filename = textOption(options, 'name') ?? (path === '-' ? 'file' : basename(path));
      const file = {
        fields: fieldsOf(options),
        filename,
        mime_type: typeOf(options),
        bytes: path === '-' ? cli.host.process.inputStream() : readFile(path),
        max_bytes: config.max_upload_bytes,
      };
      const stored = await inOptions(OPTION_OF_FIELD, () => services.objects.take(project, file, trail));
      const { public_id, url, visibility, mime_type, size_bytes } = stored;
      const what = `${filename}: ${formatBytes(size_bytes)}, ${mime_type}, ${visibility}.`;
      const how = visibility === 'public' ? url : `Read it with: satchel object get ${public_id} FILE`;
      return { json: stored, text: `${public_id}\n${what}\n${how}` };
    });
}

function fieldsOf(options: Options): Record<string, string> {
  // A blank field counts as omitted.
  const { expiresInDays: expires_in_days = '', expiresAt: expires_at = '' } = textOptions(
    options,
    'expiresInDays',
    'expiresAt',
  );
  return { visibility: options.public === true ? 'public' : 'private', expires_in_days, expires_at };
}

/** Null where none is named, and where it is the one that stands for any. */
function typeOf(options: Options): string | null {
  const type = textOption(options, 'type');
  const declared = declaredTypeOf({ declared: type ?? null });
  if (type !== undefined && declared === null && essenceOf(type) !== NONE)
    throw invalid({ '--type': ['must be a media type, such as text/plain'] });
  return declared;
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* streamNamedFile(path);
  } catch (error) {
    throw new AppError('invalid', `The file cannot be read: ${messageOf(error)}`);
  }
}

function registerGet<S extends ByteServices>(cli: Cli<S>, object: Noun<S>): void {
  object
    .verb('get <id> <file>', 'write a stored file to a file of this machine; - is standard output')
    .option('--force', 'replace a file that is there')
    .remark('The file is there when all of it is, and not before.')
    .example('satchel object get 01J8ZQ4T9V6X2N5K3B7C1D0E4F logo.png')
    .finds(({ objects }, id) => objects.requireAny(id))
    .does(async ({ services, project, row }, options, _id, path) => {
      const bytes = () => bytesOf(services.objects, row);
      const record = services.objects.describe(row, project);
      if (path !== '-') {
        await writeWhole(path, bytes, options.force === true);
        return { json: record, text: `${path}: ${formatBytes(row.size_bytes)}, ${row.mime_type}.` };
      }
      if (options.json === true)
        throw new UsageError('--json and the bytes of a file cannot share an output.');
      if (cli.is_shown)
        throw new UsageError('The terminal is no place for bytes: name a file, or use a pipe.');
      for await (const chunk of bytes()) cli.host.process.outBytes(chunk);
      return { json: record, text: '' };
    });
}

/** The bytes of an object. Throws AppError where they are not those that were stored. */
async function* bytesOf(objects: Objects, row: ObjectRow): AsyncGenerator<Uint8Array> {
  const hasher = new Bun.CryptoHasher('sha256');
  try {
    for await (const chunk of objects.chunksOf(row)) {
      hasher.update(chunk);
      yield chunk;
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    throw bytesMissing('internal');
  }
  if (hasher.digest('hex') !== row.sha256)
    throw new AppError(
      'internal',
      'The bytes of the file are not those that were stored. See: satchel doctor',
    );
}

/** Writes a file under another name in the same folder, and gives it its own once all of it is on disk. */
async function writeWhole(
  path: string,
  bytes: () => AsyncIterable<Uint8Array>,
  may_replace: boolean,
): Promise<void> {
  asCallerAt(path, () => refusePlace(path, may_replace));
  const temporary = join(dirname(path), `.${basename(path).slice(0, 64)}.${randomUUID()}`);
  try {
    const fd = asCallerAt(path, () => openSync(temporary, 'wx', 0o600));
    try {
      for await (const chunk of bytes()) writeAll(fd, chunk);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    asCallerAt(path, () => (may_replace ? renameSync(temporary, path) : giveName(temporary, path)));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid', `The file cannot be written: ${messageOf(error)}`);
  } finally {
    asCallerAt(path, () => rmSync(temporary, { force: true }));
  }
}

/** A write may take only a part, as on a disk that is nearly full. */
function writeAll(fd: number, chunk: Uint8Array): void {
  for (let done = 0; done < chunk.byteLength; ) done += writeSync(fd, chunk, done);
}

/** A link, unlike a rename, replaces nothing that came there meanwhile; some file systems have none. */
function giveName(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') throw alreadyThere(path);
    refusePlace(path, false);
    renameSync(temporary, path);
  }
}

function refusePlace(path: string, may_replace: boolean): void {
  if (path.endsWith('/')) throw new AppError('invalid', `${path} is a folder: name a file in it.`);
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new AppError('invalid', `${path} is a folder: name a file in it.`);
  if (there && !there.isFile())
    throw new AppError('invalid', `${path} is no plain file, and stays as it is.`);
  if (there && !may_replace) throw alreadyThere(path);
  if (!existsSync(dirname(path))) throw new AppError('invalid', `There is no folder ${dirname(path)}.`);
}

function alreadyThere(path: string): AppError {
  return new AppError('conflict', `${path} is there already. Add --force to replace it.`);
}
