/**
 * The first reading of a project's file, to its end. It finds a wrong passphrase, damage, changes, rows of
 * another build and bytes out of reach before anything is written.
 */
import { AppError, conflict } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { blobIdOf } from '../../platform/files/archive.ts';
import { S3Store } from '../../platform/files/s3-store.ts';
import type { BlobStore, ByteStore, StoreName } from '../../platform/files/store.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { isPlainObject, parse } from '../../platform/http/schema.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';
import type { S3Settings } from '../../store-place.ts';
import { rowOfLine } from './arriving.ts';
import { checkRow, fitsTable } from './column-rules.ts';
import { isRowsName, LEFT_OUT, leftOut, MANIFEST, type ProjectFile, ProjectReader } from './format.ts';
import { type Manifest, manifest, rangesOf } from './manifest-store.ts';
import { type Going, listColumns, listGoing, type Row } from './rows-store.ts';

/** The most that a piece may say it has: a captured message of the largest size, in base64, and room. */
const MAX_PIECE_BYTES = 128 * 1024 * 1024;
/** How far apart a table's numbers may be: other projects used those between; those here must last. */
const MOST_NUMBERS = 10 ** 11;
/** Requests to the object store at once. */
const ASKED_AT_ONCE = 8;

export interface ImportDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
  blobs: BlobStore;
  bytes: {
    readonly current: ByteStore;
    of(name: StoreName): ByteStore;
    keep(public_id: string, held: Uint8Array): Promise<void>;
    requirePlace(name: StoreName): Promise<void>;
  };
  config: { data_dir: string; public_url: string; object_store: S3Settings | null };
}

export interface ImportJob {
  path: string;
  /** Of the file, for messages. */
  name: string;
  size_bytes: number;
  key: MasterKey;
  about: ProjectFile;
  /** In place of that of the file; where it is taken, it gets a number. */
  slug?: string | undefined;
  actor: Actor;
  /** A server may wait for the database meanwhile. */
  is_served: boolean;
  onProgress: OnProgress;
}

type GoingTables = ReadonlyMap<string, Going>;

/** A file that proved whole, true and fit for this build. */
export interface Examined {
  seal: string;
  manifest: Manifest;
  going: GoingTables;
  rows: number;
  /** Files whose bytes are in it. */
  objects: number;
}

/**
 * Reads all of a file and writes nothing. Throws AppError `invalid` for damage, changes, values that their
 * columns do not take, or rows of another build; `conflict` where bytes that are not in it can't be reached.
 */
export async function examine(deps: ImportDeps, job: ImportJob): Promise<Examined> {
  const reach = new Reach(deps, job.about);
  const { read } = deps.database;
  const going = new Map(listGoing(read).map((one) => [one.table, one]));
  let found: Manifest | null = null;
  let seal: string | null = null;
  let gone: readonly string[] = [];
  let rows_found = 0;
  let objects = 0;
  for await (const held of readAll(job, going, 0)) {
    if ('manifest' in held) found = held.manifest;
    else if ('gone' in held) gone = held.gone;
    else if ('seal' in held) seal = held.seal;
    else if ('rows' in held) {
      const { table, columns } = held.going;
      for (const row of held.rows) checkRow(table, columns, row);
      rows_found += held.rows.length;
      if (table === 'objects') await reach.ask(held.rows);
    } else {
      await held.reader.read(() => {});
      objects += 1;
    }
  }
  if (!found || seal === null) throw ofAnotherBuild(job.name, 'no project');
  checkManifest(found, read, job);
  reach.check(new Set(gone));
  return { seal, manifest: found, going, rows: rows_found, objects };
}

/** Holds the project's own row and its tokens to the same, and what the file says of itself to what it holds. */
function checkManifest(found: Manifest, read: Tx, { name, about }: ImportJob): void {
  for (const [table, rows] of [
    ['projects', [found.project]],
    ['access_tokens', found.tokens],
  ] as const) {
    const columns = listColumns(read, table);
    for (const row of rows) {
      if (!fitsTable(columns, row)) throw ofAnotherBuild(name, `${table} with other columns`);
      checkRow(table, columns, row);
    }
  }
  for (const column of ['id', 'token_hash'])
    if (new Set(found.tokens.map((token) => token[column])).size < found.tokens.length)
      throw new AppError('invalid', `The project file ${name} has one token twice, which none has.`);
  const { public_id } = about.project;
  const scope = projectScope(public_id);
  if (found.project.public_id !== public_id || found.data_keys.some((key) => key.scope !== scope))
    throw ofAnotherBuild(name, 'another project than it says');
  if (rangesOf(found).some(({ from, to }) => to - from > MOST_NUMBERS))
    throw ofAnotherBuild(name, 'more rows than any project has');
}

/** Pieces of a file, in its order; whoever gets the bytes of an object reads them. */
type Held = { manifest: Manifest } | Piece | HeldFile | { gone: readonly string[] } | { seal: string | null };

export interface HeldFile {
  reader: ProjectReader;
  id: string;
  size_bytes: number;
}

/** Reads all of a file, of which `done_bytes` of twice its size were read before. */
export async function* readAll(
  { path, key, name, size_bytes, onProgress }: ImportJob,
  going: GoingTables,
  done_bytes: number,
): AsyncGenerator<Held, void> {
  const reader = new ProjectReader(path, key, name);
  try {
    for (let entry = await reader.next(); entry; entry = await reader.next()) {
      const id = blobIdOf(entry.name);
      if (id !== null) yield { reader, id, size_bytes: entry.size_bytes };
      else {
        const text = await readText(reader, entry.size_bytes);
        if (entry.name === MANIFEST) yield { manifest: parse(manifest, JSON.parse(text)) };
        else if (entry.name === LEFT_OUT) yield { gone: parse(leftOut, JSON.parse(text)).objects };
        else if (isRowsName(entry.name)) yield readPiece(text, name, going);
        else throw ofAnotherBuild(name, `the file ${entry.name}`);
      }
      onProgress(done_bytes + reader.position, 2 * size_bytes);
    }
    yield { seal: reader.seal };
  } catch (error) {
    if (error instanceof SyntaxError) throw ofAnotherBuild(name, 'what is no JSON');
    throw error;
  } finally {
    reader.close();
  }
}

function ofAnotherBuild(name: string, what: string): AppError {
  return new AppError(
    'invalid',
    `The project file ${name} holds ${what}, which this build of Satchel does not know: import it with the build that made it.`,
  );
}

async function readText(reader: ProjectReader, size_bytes: number): Promise<string> {
  if (size_bytes > MAX_PIECE_BYTES) throw ofAnotherBuild(reader.name, 'a piece of a size that none has');
  const bytes = Buffer.allocUnsafe(size_bytes);
  let at = 0;
  await reader.read((chunk) => {
    bytes.set(chunk, at);
    at += chunk.length;
  });
  return bytes.toString('utf8');
}

export interface Piece {
  going: Going;
  rows: Row[];
}

/** The rows of a piece. Throws AppError `invalid` for a table or columns that this build does not have. */
function readPiece(text: string, name: string, tables: GoingTables): Piece {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const said: unknown = JSON.parse(head);
  const table = isPlainObject(said) ? String(said.table) : '';
  const going = tables.get(table);
  const columns = isPlainObject(said) ? String(said.columns) : '';
  if (!going || columns !== String(going.columns.map(({ name }) => name)))
    throw ofAnotherBuild(name, `rows of ${table} with other columns`);
  const rows = lines.map((line) => {
    const row = rowOfLine(going, line);
    if (!row) throw ofAnotherBuild(name, `a row of ${table} with other values`);
    return row;
  });
  return { going, rows };
}

/** Looks for bytes that are not in the file where they should be. */
class Reach {
  readonly #store: S3Store | null;
  readonly #unreached: string[] = [];

  constructor(
    deps: ImportDeps,
    private readonly about: ProjectFile,
  ) {
    this.#store = about.with_store ? null : storeOf(deps, about);
  }

  async ask(rows: readonly Row[]): Promise<void> {
    if (this.about.with_store) return;
    const stored = rows.filter((row) => row.store === 's3').values();
    const work = async (): Promise<void> => {
      for (const { public_id, size_bytes } of stored) {
        const size = this.#store ? await this.#store.sizeOf(String(public_id)) : null;
        if (size !== size_bytes) this.#unreached.push(String(public_id));
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work));
  }

  check(gone: ReadonlySet<string>): void {
    const [first, ...more] = this.#unreached.filter((id) => !gone.has(id));
    if (first === undefined) return;
    const bucket = this.about.store?.bucket ?? '';
    const others = more.length > 0 ? ` and ${more.length} more` : '';
    throw conflict(
      `The bytes of ${first}${others} are in the bucket ${bucket}, where this Satchel does not find them: set SATCHEL_OBJECT_STORE to that ` +
        'bucket here, or export the project with --with-store.',
    );
  }
}

/** True when the bytes are where ours are, and stay there. */
export function keepsPlace({ config }: ImportDeps, { store: place, with_store }: ProjectFile): boolean {
  const { object_store: ours } = config;
  return !with_store && place?.bucket === ours?.bucket && place?.prefix === ours?.prefix;
}

/** Where the file says that the bytes are in our bucket; null where no store is set or it names none. */
export function storeOf({ config }: ImportDeps, { store: place }: ProjectFile): S3Store | null {
  const { object_store } = config;
  return object_store && place?.bucket === object_store.bucket
    ? new S3Store({ ...object_store, prefix: place.prefix })
    : null;
}
