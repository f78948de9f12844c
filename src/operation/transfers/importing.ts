/**
 * Imports a project's file that was examined. It reads it again, and writes its rows in pieces under a
 * project that nobody sees. The import counts from one transaction on, which shows the project. Until then
 * all of it goes again, whatever cuts it off.
 */
import {
  findArrived,
  insertArriving,
  insertScope,
  lostLinkDomains,
  showArriving,
} from '../../access/projects/service.ts';
import { AppError, conflict, messageOf } from '../../errors.ts';
import { SWEEP_BATCH } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import { isOfMissingRow, type Tx } from '../../platform/database/database.ts';
import { insertRecord } from '../../platform/database/raw-sql.ts';
import { lacksCharset } from '../../platform/files/media-types.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import type { ByteStore } from '../../platform/files/store.ts';
import type { BlobUpload } from '../../platform/files/upload.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { requireRoom } from '../../platform/host/folders.ts';
import { newId } from '../../platform/host/ids.ts';
import { sqliteErrorOf } from '../../platform/host/shortages.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { Arrival, namedBy, type Range } from './arriving.ts';
import {
  type Examined,
  type HeldFile,
  type ImportDeps,
  type ImportJob,
  keepsPlace,
  type Piece,
  readAll,
  storeOf,
} from './examining.ts';
import type { Numbered } from './inventory-tables.ts';
import { type Manifest, rangesOf } from './manifest-store.ts';
import type { Going, Row } from './rows-store.ts';
import type { Imported, Missing } from './schemas.ts';
import * as store from './store.ts';

/** An import leaves so much of the disk free: for the server, and for taking out again what was written. */
export const IMPORT_SPARE_BYTES = 64 * 1024 * 1024;
/** Transactions between two looks at how much is free: some megabytes of rows. */
const ROOM_EVERY = 50;
/** Rows that one transaction takes: a few milliseconds, so that nobody waits long behind it. */
const IMPORT_PIECE_ROWS = 100;
/** Small files that are made durable at once, and requests to the store. */
const AT_ONCE = 8;
/** Files up to this size are held in memory until then. */
const HELD_FILE_BYTES = 1024 * 1024;

/** The numbers that things of ours have here, by those that they have where the file comes from. */
function here<T extends { id: number }>(
  read: Tx,
  kind: 'mailbox' | 'person',
  things: readonly T[],
  nameOf: (one: T) => string,
): Map<number, number> {
  const pairs = things.map((one) => [one.id, store.numberHere(read, kind, nameOf(one))] as const);
  return new Map(pairs.flatMap(([id, found]) => (found === null ? [] : [[id, found]])));
}

/** Throws AppError `conflict` where a project is here, or on its way. */
export function refuseKnown(read: Tx, public_id: string): void {
  const name = findArrived(read, public_id);
  if (name !== null) throw conflict(`The project ${name} (${public_id}) is here already.`);
}

export class Import {
  readonly #arrival: Arrival;
  readonly #id: number;
  readonly #tokens: Map<number, number>;
  /** Where stored bytes are copied from; null where they stay in the place that is ours. */
  readonly #copied_from: S3Store | null;
  /** Files under way. */
  readonly #under_way = new Set<Promise<void>>();
  #rows = 0;
  #objects = 0;
  #writes = 0;

  private constructor(
    private readonly deps: ImportDeps,
    private readonly job: ImportJob,
    private readonly examined: Examined,
    begun: { id: number; ranges: Map<Numbered, Range>; tokens: Map<number, number> },
  ) {
    this.#id = begun.id;
    this.#tokens = begun.tokens;
    const { about } = job;
    const { bytes, database, clock } = deps;
    const there = about.with_store ? null : storeOf(deps, about);
    const keeps_place = there !== null && keepsPlace(deps, about);
    this.#copied_from = keeps_place ? null : there;
    const { mailboxes, people } = examined.manifest;
    this.#arrival = new Arrival({
      project_id: begun.id,
      now_ms: clock.now(),
      ranges: begun.ranges,
      tokens: begun.tokens,
      mailboxes: here(database.read, 'mailbox', mailboxes, ({ address }) => address),
      people: here(database.read, 'person', people, ({ email }) => email),
      placeStored: () => (keeps_place ? 's3' : bytes.current.name),
    });
  }

  /** Begins an import that nobody sees yet. Throws AppError `conflict` where the project is here. */
  static async begin(deps: ImportDeps, job: ImportJob, examined: Examined): Promise<Import> {
    const { public_id } = job.about.project;
    const { database, key_ring } = deps;
    const { project, data_keys, tokens } = examined.manifest;
    const begun = await database.write((tx) => {
      refuseKnown(tx, public_id);
      const id = insertArriving(tx, project, deps.config.public_url);
      key_ring.takeIn(tx, data_keys, job.key);
      const ranges = rangesOf(examined.manifest).map(({ table, from, to }) => {
        const starts_at = store.reserve(tx, table, Math.max(0, to - from + 1));
        return [table, { from, to, starts_at }] as const;
      });
      const first = store.reserve(tx, 'access_tokens', tokens.length);
      const numbered = tokens.map((token, index): [number, number] => [
        Number(token.id),
        store.numberHere(tx, 'token', String(token.token_hash)) ?? first + index,
      ]);
      return { id, ranges: new Map(ranges), tokens: new Map(numbered) };
    });
    return new Import(deps, job, examined, begun);
  }

  /** Takes everything in and shows it. If it throws, nobody saw anything: the caller takes it out. */
  async run(): Promise<Imported> {
    const { job, examined } = this;
    let gone: readonly string[] = [];
    try {
      for await (const held of readAll(job, examined.going, job.size_bytes)) {
        if ('rows' in held) await this.#takeRows(held);
        else if ('reader' in held) await this.#takeFile(held);
        else if ('gone' in held) gone = held.gone;
        else if ('seal' in held && held.seal !== examined.seal)
          throw new AppError('invalid', `${job.name} was changed while it was read.`);
      }
      await Promise.all(this.#under_way);
    } finally {
      await Promise.allSettled(this.#under_way);
    }
    for (let from = 0; from < gone.length; from += SWEEP_BATCH)
      await this.#write((tx) => {
        for (const id of gone.slice(from, from + SWEEP_BATCH)) store.dropArrivingObject(tx, id, this.#id);
      });
    return this.deps.database.write((tx) => this.#show(tx));
  }

  /** As long as a piece has held the lock on the database, the server has it. */
  async #write(change: (tx: Tx) => void): Promise<void> {
    if (this.#writes++ % ROOM_EVERY === 0) this.#requireRoom(0);
    const began_ms = monotonicMs();
    await this.deps.database.write(change);
    if (this.job.is_served) await Bun.sleep(monotonicMs() - began_ms);
    else await letOthers();
  }

  #requireRoom(bytes: number): void {
    requireRoom(this.deps.config.data_dir, bytes + IMPORT_SPARE_BYTES, 'an import');
  }

  async #takeRows({ going, rows }: Piece): Promise<void> {
    for (let from = 0; from < rows.length; from += IMPORT_PIECE_ROWS) {
      const piece = rows.slice(from, from + IMPORT_PIECE_ROWS);
      await this.#write((tx) => {
        for (const row of piece) this.#takeRow(tx, going, row);
      });
      if (going.table === 'objects') await this.#copyStored(piece);
    }
  }

  #takeRow(tx: Tx, going: Going, row: Row): void {
    const arriving = this.#arrival.of(going, row);
    if (!arriving) return;
    // Whoever made the file may have written into it what they like: they know its passphrase.
    const foreign = namedBy(going, arriving).find((one) => store.isOfAnother(tx, one, this.#id));
    if (foreign)
      throw conflict(
        `A row of ${going.table} names the ${foreign.kind} ${foreign.id}, which another project has.`,
      );
    if (going.table === 'audit_events' && store.findOnTrail(tx, String(arriving.id)))
      arriving.id = newId(Number(arriving.at));
    try {
      going.insert(tx, ...going.columns.map(({ name }) => arriving[name] ?? null));
    } catch (error) {
      // A sweep took what it belongs to, whose time was over.
      if (isOfMissingRow(error)) return;
      if (sqliteErrorOf(error)?.code?.startsWith('SQLITE_CONSTRAINT'))
        throw new AppError('invalid', `A row of ${going.table} in the file is refused: ${messageOf(error)}.`);
      throw error;
    }
    this.#rows += 1;
    if (going.table === 'merge_sources') store.nameFormerly(tx, Number(row.id), Number(arriving.id));
  }

  /** Bytes that are elsewhere in our bucket. Their rows are there, so that no sweep takes them. */
  async #copyStored(rows: readonly Row[]): Promise<void> {
    const from = this.#copied_from;
    if (!from) return;
    const stored = rows.filter((row) => row.store === 's3').values();
    const work = async (): Promise<void> => {
      for (const row of stored) {
        const size_bytes = Number(row.size_bytes);
        const bytes = await from.read(String(row.public_id), { start: 0, end: size_bytes, size_bytes });
        if (bytes) await this.#keep(this.deps.bytes.current, String(row.public_id), bytes);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #takeFile({ reader, id, size_bytes }: HeldFile): Promise<void> {
    const { blobs, bytes, database } = this.deps;
    const row = store.findArrivingObject(database.read, id, this.#id);
    if (!row && !store.findPin(database.read, id, this.#id)) {
      // No row names it, or none any more.
      await reader.read(() => {});
      return;
    }
    // Waiting mails keep the bytes of an object that is gone in the data directory.
    const place =
      row?.store === 's3' ? bytes.current : row?.store === 'database' ? bytes.of(row.store) : blobs;
    // The project may have left it, when it was here before: by its row the id is ours.
    if (place.name === 'local') {
      await blobs.remove(id);
      this.#requireRoom(size_bytes);
    }
    if (size_bytes > HELD_FILE_BYTES) {
      const upload = place.openUpload(id);
      await this.#commit(upload, row, () => reader.read((chunk) => upload.write(chunk)));
      return;
    }
    const held: Uint8Array[] = [];
    await reader.read((chunk) => void held.push(Uint8Array.from(chunk)));
    while (this.#under_way.size >= AT_ONCE) await Promise.race(this.#under_way);
    const upload = place.openUpload(id);
    const kept = this.#commit(upload, row, async () => {
      for (const chunk of held) await upload.write(chunk);
    }).finally(() => this.#under_way.delete(kept));
    this.#under_way.add(kept);
    kept.catch(() => {}); // Whoever waits for all of them gets it.
  }

  async #keep(place: ByteStore, id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const row = store.findArrivingObject(this.deps.database.read, id, this.#id);
    const upload = place.openUpload(id);
    await this.#commit(upload, row, async () => {
      for await (const chunk of bytes) await upload.write(chunk);
    });
  }

  async #commit(
    upload: BlobUpload,
    row: store.ArrivingObject | null,
    fill: () => Promise<void>,
  ): Promise<void> {
    try {
      await fill();
      if (row && upload.sha256() !== row.sha256)
        throw new AppError('invalid', `The bytes of ${upload.id} are not those that its row tells of.`);
      await upload.commit();
      const is_utf8 = row !== null && upload.is_utf8 && lacksCharset(row.mime_type);
      if (row && is_utf8 !== (row.is_utf8 === 1))
        await this.#write((tx) => store.setUtf8(tx, is_utf8 ? 1 : 0, upload.id));
      if (upload.held) await this.deps.bytes.keep(upload.id, upload.held);
      this.#objects += 1;
    } finally {
      await upload.abort(); // What was committed stays.
    }
  }

  /** The moment at which the project is here. */
  #show(tx: Tx): Imported {
    const { about, actor } = this.job;
    const { clock } = this.deps;
    const { public_id, name } = about.project;
    const project = { id: this.#id, public_id };
    const now_ms = clock.now();
    for (const standing of this.#arrival.standings) store.setStanding(tx, standing);
    const missing = this.#tieAll(tx);
    const is_active = this.examined.manifest.was_active;
    const slug = showArriving(tx, this.#id, { is_active, slug: this.job.slug || about.project.slug, now_ms });
    if (slug === null) throw conflict('The import was taken out meanwhile.');
    const metadata = { name, slug, missing: Object.values(missing).flat().length };
    recordAudit(
      tx,
      actor,
      { event: 'project.imported', target: `project:${this.#id}`, project, metadata },
      now_ms,
    );
    const { size: tokens } = this.#tokens;
    return { id: this.#id, public_id, slug, name, rows: this.#rows, objects: this.#objects, tokens, missing };
  }

  /** Ties it to this Satchel's own: tokens, people, accounts. Returns what is not here. */
  #tieAll(tx: Tx): Missing {
    const { tokens, people } = this.examined.manifest;
    for (const token of tokens) {
      const id = this.#tokens.get(Number(token.id)) ?? 0;
      if (store.numberHere(tx, 'token', String(token.token_hash)) === null) {
        const person_id = this.#arrival.facts.people.get(Number(token.person_id)) ?? null;
        // It is for this project alone, whatever the file says.
        const for_one = { all_projects: 0, can_administer: 0 };
        insertRecord(tx, 'access_tokens', { ...token, ...for_one, id, person_id, created_by_id: null });
      }
      insertScope(tx, { kind: 'token', id }, this.#id);
    }
    const granted = people.filter(({ is_granted }) => is_granted).map(({ email }) => email);
    for (const email of granted) {
      const id = store.numberHere(tx, 'person', email);
      if (id !== null) insertScope(tx, { kind: 'person', id }, this.#id);
    }
    return missingOf(tx, this.examined.manifest, this.#id);
  }
}

/** Lists what a project refers to and is not here; `id` is its number, once it has one. */
export function missingOf(read: Tx, of: Manifest, id: number | null = null): Missing {
  const { people, domains, mailboxes, ai_accounts, database_projects } = of;
  const unknown = (kind: Parameters<typeof store.numberHere>[1], name: string): boolean =>
    store.numberHere(read, kind, name) === null;
  const granted = people.filter(({ is_granted }) => is_granted).map(({ email }) => email);
  const used = mailboxes.filter(({ is_used }) => is_used).map(({ address }) => address);
  return {
    people: granted.filter((email) => unknown('person', email)),
    domains: domains.filter((name) => unknown('domain', name)),
    mailboxes: used.filter((address) => unknown('mailbox', address)),
    // Before it is here, nobody knows whether its name is free.
    link_domains: id === null ? [] : lostLinkDomains(read, id, of.project),
    // Also those that are here: who assigns them gives whoever has the project their secrets.
    ai_accounts: ai_accounts.map(({ name }) => name),
    database_projects: database_projects.map(({ name }) => name),
  };
}
