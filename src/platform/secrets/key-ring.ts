/**
 * The key ring: data keys in the database, wrapped by the master key that the database is bound to. It seals
 * and opens for every noun, refuses a master key that does not fit, and changes the master key.
 */
import { eq, like, or, type SQL, sql } from 'drizzle-orm';
import { AppError, conflict, invalid } from '../../errors.ts';
import { type Database, statement, type Tx } from '../database/database.ts';
import { readMeta, writeMeta } from '../database/store.ts';
import { dataKeys } from '../database/tables.ts';
import type { Clock } from '../host/clock.ts';
import { letOthers } from '../host/waiting.ts';
import {
  createKeyFile,
  createSalt,
  deriveMasterKey,
  findKeyInFiles,
  hasNextKeyFile,
  type KeyFileSource,
  type MasterKeySource,
  parseMasterKey,
  readKeyFile,
  settingOf,
  settleKeyFiles,
  warnOfKeyFileMode,
  writeNextKeyFile,
} from './master-key-source.ts';
import {
  createDataKey,
  createMasterKey,
  type DataKey,
  dataKeyIdOf,
  isRetiredScope,
  type MasterKey,
  masterKeyIdOf,
  openValue,
  retiredScope,
  sealValue,
  unwrapDataKey,
  wrapDataKey,
} from './sealing.ts';

/** The scope of what belongs to no project. */
export const PLATFORM_SCOPE = 'platform';

export function projectScope(project_public_id: string): string {
  return `project:${project_public_id}`;
}

interface KeyRingOptions {
  database: Database;
  source: MasterKeySource;
  clock: Clock;
}

export interface Rotation {
  master_key_id: string;
  /** How many data keys are now wrapped by the new master key. */
  rewrapped: number;
  /** Scopes whose data key did not open under the old master key either; their rows are as they were. */
  undecryptable: string[];
  /** What the operator has to do now, or null when nothing. */
  next_step: string | null;
}

/** A data key as it is stored: it opens under the key that wraps it. */
export type WrappedKey = typeof dataKeys.$inferSelect;

const MASTER_KEY_ID = 'master_key_id';
const PASSPHRASE_SALT = 'passphrase_salt';

const findByScope = statement((tx) =>
  tx
    .select()
    .from(dataKeys)
    .where(eq(dataKeys.scope, sql.placeholder('scope')))
    .prepare(),
);
const findById = statement((tx) =>
  tx
    .select()
    .from(dataKeys)
    .where(eq(dataKeys.id, sql.placeholder('id')))
    .prepare(),
);
/** Those of a scope, retired ones too. */
function ofScope(scope: string): SQL | undefined {
  return or(eq(dataKeys.scope, scope), like(dataKeys.scope, `${retiredScope({ scope, id: '' })}%`));
}

/**
 * Opens the key ring of a database. The first time it binds the database to the master key, and makes the
 * default key file if that is the source. Later it ends a rotation that was cut off. Throws AppError, having
 * changed nothing: `invalid` when the master key is missing or malformed, `conflict` when the database is
 * bound to another.
 */
export async function createKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { database, source } = options;
  const bound_id = readMeta(database.read, MASTER_KEY_ID);
  if (bound_id === null) {
    await bindDatabase(options);
    return createKeyRing(options);
  }
  const master = await obtainMasterKey(database, source, bound_id);
  if (master.id !== bound_id) {
    // Tried again in another turn of the event loop: within one, every read shows the same snapshot.
    await letOthers();
    const is_outdated = readMeta(database.read, MASTER_KEY_ID) !== bound_id;
    // A rotation ended between our two reads; another try finds what came of it.
    if (is_outdated && source.kind === 'file') return createKeyRing(options);
    throw conflict(
      `${settingOf(source)} does not fit this database: it gives the key ${master.id}, but the database is sealed under ` +
        `the key ${bound_id}. Nothing was changed. Set it to the key of this database; if the master key was rotated, to ` +
        'the new one.',
    );
  }
  const ring = new KeyRing(options, master);
  ring.loadDataKeys();
  return ring;
}

/** Takes the first master key of a database. Within one write, so that two first starts agree on one key. */
async function bindDatabase({ database, source }: KeyRingOptions): Promise<void> {
  const salt = createSalt();
  const given = source.kind === 'file' ? null : await masterKeyOfSetting(source, salt);
  await database.write((tx) => {
    if (readMeta(tx, MASTER_KEY_ID) !== null) return;
    const master = source.kind === 'file' ? firstFileKey(source) : given;
    if (master) writeMeta(tx, MASTER_KEY_ID, master.id);
    if (source.kind === 'passphrase') writeMeta(tx, PASSPHRASE_SALT, salt);
  });
}

function masterKeyOfSetting(
  source: Exclude<MasterKeySource, KeyFileSource>,
  salt: string,
): MasterKey | Promise<MasterKey> {
  return source.kind === 'key' ? parseMasterKey(source.text) : deriveMasterKey(source.passphrase, salt);
}

/** An operator's file must exist: a mistyped or unmounted path would get a key that is soon lost. */
function firstFileKey(source: KeyFileSource): MasterKey {
  const key = readKeyFile(source);
  if (key) return key;
  if (source.is_default) return createKeyFile(source.path);
  throw new AppError(
    'invalid',
    `${settingOf(source)} does not exist. Make it with mode 0600; its content is what this prints: openssl rand -base64 32`,
  );
}

async function obtainMasterKey(
  database: Database,
  source: MasterKeySource,
  bound_id: string,
): Promise<MasterKey> {
  if (source.kind !== 'file') {
    return masterKeyOfSetting(source, readMeta(database.read, PASSPHRASE_SALT) ?? createSalt());
  }
  if (hasNextKeyFile(source.path)) {
    // Either a rotation was cut off, or one is under way: behind its lock the files and the database agree.
    const settled = await database.write((tx) =>
      settleKeyFiles(source.path, readMeta(tx, MASTER_KEY_ID) ?? bound_id),
    );
    if (settled) return settled;
  }
  const key = readKeyFile(source);
  if (key) return key;
  throw new AppError(
    'invalid',
    `${settingOf(source)} is missing, but the database is sealed under the key ${bound_id}. Restore the file from where ` +
      'you keep a copy, or set SATCHEL_MASTER_KEY to its content. A new key is never made beside a database: it would ' +
      'open nothing.',
  );
}

export class KeyRing {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #source: MasterKeySource;
  #master: MasterKey;
  /** By id. Ids are random, so a rolled-back or deleted row's entry is never taken for another key. */
  readonly #data_keys = new Map<number, DataKey>();
  readonly #warnings: string[] = [];

  constructor(options: KeyRingOptions, master: MasterKey) {
    this.#database = options.database;
    this.#clock = options.clock;
    this.#source = options.source;
    this.#master = master;
    const mode_warning = options.source.kind === 'file' ? warnOfKeyFileMode(options.source) : null;
    if (mode_warning !== null) this.#warnings.push(mode_warning);
  }

  get master_key_id(): string {
    return this.#master.id;
  }

  /** Warnings for the operator at a start. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /**
   * Unwraps every data key, so that a server goes on with them when a command rotates the master key, and
   * warns of those that do not open. A key that was retired for that is left to `doctor`, which knows whether
   * values are still sealed under it.
   */
  loadDataKeys(): void {
    for (const row of this.#database.read.select().from(dataKeys).all()) {
      const key = unwrapDataKey(this.#master, row);
      if (key) this.#data_keys.set(row.id, key);
      else if (!isRetiredScope(row.scope))
        this.#warnings.push(`The data key of ${row.scope} does not open: what it seals can't be decrypted.`);
    }
  }

  /**
   * Encrypts a value for its place (see `sealValue`). Within this transaction it makes the scope's data key
   * if none opens: storing a secret again, or rotating a key, mends a damaged one. Throws AppError
   * `unavailable` when the master key was changed and the new one is not at hand.
   */
  seal(tx: Tx, scope: string, context: readonly string[], plaintext: string | Uint8Array): string {
    const row = findByScope(tx).get({ scope });
    const present = row ? this.#unwrap(tx, row) : null;
    if (row && !present) {
      // The old row is kept: its bytes may come back from a backup, and sealed values name it by its id.
      tx.update(dataKeys)
        .set({ scope: retiredScope(row) })
        .where(eq(dataKeys.id, row.id))
        .run();
    }
    return sealValue(present ?? this.#makeDataKey(tx, scope), plaintext, context);
  }

  /**
   * The value; null where it does not decrypt. Throws AppError `unavailable` when the master key was changed
   * and the new one is not at hand: the value may be sound.
   */
  open(read: Tx, sealed: string, context: readonly string[]): Uint8Array | null {
    const id = dataKeyIdOf(sealed);
    if (id === null) return null;
    const key = this.#data_keys.get(id) ?? this.#findDataKey(read, id);
    return key && openValue(key, sealed, context);
  }

  /** As `open`, for a value that was sealed as text. */
  openText(read: Tx, sealed: string, context: readonly string[]): string | null {
    const bytes = this.open(read, sealed, context);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  /** Drops a deleted project's data key: copies of its secrets open no more. */
  forgetScope(tx: Tx, scope: string): void {
    const dropped = tx.delete(dataKeys).where(ofScope(scope)).returning({ id: dataKeys.id }).all();
    for (const { id } of dropped) this.#data_keys.delete(id);
  }

  /** A scope's data keys that open, retired ones too, wrapped by another key to be taken elsewhere. */
  wrapScope(read: Tx, scope: string, under: MasterKey): WrappedKey[] {
    return read
      .select()
      .from(dataKeys)
      .where(ofScope(scope))
      .orderBy(dataKeys.id)
      .all()
      .flatMap((row) => {
        const key = this.#unwrap(read, row);
        return key ? [{ ...row, wrapped: wrapDataKey(under, key, row.scope) }] : [];
      });
  }

  /** Takes in another Satchel's data keys. Throws AppError `invalid` for one that its key does not open. */
  takeIn(tx: Tx, rows: readonly WrappedKey[], under: MasterKey): void {
    const master = this.#masterKeyInForce(tx);
    for (const row of rows) {
      const key = unwrapDataKey(under, row);
      if (!key) throw new AppError('invalid', `A data key of ${row.scope} does not open.`);
      tx.insert(dataKeys)
        .values({ ...row, wrapped: wrapDataKey(master, key, row.scope) })
        .run();
    }
  }

  #findDataKey(read: Tx, id: number): DataKey | null {
    const row = findById(read).get({ id });
    if (!row) return null;
    const key = this.#unwrap(read, row);
    if (key) return key;
    // Outside a transaction a rotation may have ended between the looks at the row and at the key in force.
    const again = findById(read).get({ id });
    return again && again.wrapped !== row.wrapped ? this.#unwrap(read, again) : null;
  }

  #unwrap(tx: Tx, row: { id: number; scope: string; wrapped: string }): DataKey | null {
    const known = this.#data_keys.get(row.id);
    if (known) return known;
    // A row that names neither our key nor the one in force is damaged; it is no sign of a rotation.
    const is_ours = masterKeyIdOf(row.wrapped) === this.#master.id;
    const key = unwrapDataKey(is_ours ? this.#master : this.#masterKeyInForce(tx), row);
    if (key) this.#data_keys.set(row.id, key);
    return key;
  }

  #makeDataKey(tx: Tx, scope: string): DataKey {
    const master = this.#masterKeyInForce(tx);
    const key = createDataKey();
    tx.insert(dataKeys)
      .values({
        id: key.id,
        scope,
        wrapped: wrapDataKey(master, key, scope),
        created_at: this.#clock.now(),
      })
      .run();
    this.#data_keys.set(key.id, key);
    return key;
  }

  /**
   * The master key that the database is bound to: ours, or the one that another process's rotation put into
   * the key file. That file is read within a write: it happens once after a rotation, and sealing can't wait.
   */
  #masterKeyInForce(tx: Tx): MasterKey {
    const id = readMeta(tx, MASTER_KEY_ID) ?? this.#master.id;
    if (id === this.#master.id) return this.#master;
    const key = this.#source.kind === 'file' ? findKeyInFiles(this.#source.path, id) : null;
    if (!key) {
      const setting = this.#source.kind === 'file' ? 'master key file' : settingOf(this.#source);
      throw new AppError(
        'unavailable',
        `The master key was changed while this server ran. Restart Satchel with the new ${setting}.`,
      );
    }
    this.#master = key;
    return key;
  }

  /**
   * Changes the master key. It wraps every data key anew in one transaction, so that a crash leaves the old
   * or the new key in force, and the next start tidies up. Sealed values stay. A key file gets a new random
   * key (`replacement` null). For SATCHEL_MASTER_KEY and SATCHEL_PASSPHRASE the caller gives the new value.
   * `record` runs in that transaction. Throws AppError `invalid` for a replacement that does not suit the
   * source, `conflict` when another rotation came first.
   */
  async rotate(
    replacement: string | null,
    record: (tx: Tx, rotation: Omit<Rotation, 'next_step'>) => void = () => {},
  ): Promise<Rotation> {
    const next = await this.#nextMasterKey(replacement);
    if (next.key.id === this.#master.id)
      throw invalid({ _: ['The new master key must differ from the present one.'] });
    let outcome: { rewrapped: number; undecryptable: string[] };
    try {
      outcome = await this.#database.write((tx) => {
        const changed = this.#changeMasterKey(tx, next);
        record(tx, { master_key_id: next.key.id, ...changed });
        return changed;
      });
    } catch (error) {
      await this.#settle();
      throw error;
    }
    this.#master = next.key;
    const next_step = (await this.#settle())
      ? next.next_step
      : 'The new key is in force, but the old key file could not be removed yet: the next start does that.';
    return { master_key_id: next.key.id, ...outcome, next_step };
  }

  async #nextMasterKey(
    replacement: string | null,
  ): Promise<{ key: MasterKey; salt: string | null; next_step: string | null }> {
    const source = this.#source;
    if (source.kind === 'file') {
      if (replacement !== null) throw invalid({ _: ['The key file gets a random key; none can be given.'] });
      return { key: createMasterKey(), salt: null, next_step: null };
    }
    const setting = settingOf(source);
    if (replacement === null || replacement === '') {
      throw invalid({ _: [`The master key comes from ${setting}: give its new value.`] });
    }
    const next_step = `Set ${setting} to the new value before the next start, and restart a server that runs now.`;
    if (source.kind === 'key') {
      return { key: parseMasterKey(replacement, 'The new master key'), salt: null, next_step };
    }
    if (replacement === source.passphrase)
      throw invalid({ _: ['The new passphrase must differ from the present one.'] });
    const salt = createSalt();
    return { key: await deriveMasterKey(replacement, salt), salt, next_step };
  }

  #changeMasterKey(
    tx: Tx,
    next: { key: MasterKey; salt: string | null },
  ): { rewrapped: number; undecryptable: string[] } {
    // The lock of this write is what keeps two rotations apart, so the new key file is written behind it.
    if (readMeta(tx, MASTER_KEY_ID) !== this.#master.id) {
      throw conflict('The master key was changed by another process meanwhile. Nothing was changed here.');
    }
    if (this.#source.kind === 'file') writeNextKeyFile(this.#source.path, next.key);
    const undecryptable: string[] = [];
    let rewrapped = 0;
    for (const row of tx.select().from(dataKeys).all()) {
      const key = unwrapDataKey(this.#master, row);
      if (!key) {
        undecryptable.push(row.scope);
        continue;
      }
      const wrapped = wrapDataKey(next.key, key, row.scope);
      tx.update(dataKeys).set({ wrapped }).where(eq(dataKeys.id, row.id)).run();
      rewrapped += 1;
    }
    writeMeta(tx, MASTER_KEY_ID, next.key.id);
    if (next.salt !== null) writeMeta(tx, PASSPHRASE_SALT, next.salt);
    return { rewrapped, undecryptable };
  }

  /** Whether the key file is the one in force. If the disk fails, the next start settles it. */
  async #settle(): Promise<boolean> {
    const source = this.#source;
    if (source.kind !== 'file') return true;
    try {
      await this.#database.write((tx) =>
        settleKeyFiles(source.path, readMeta(tx, MASTER_KEY_ID) ?? this.#master.id),
      );
      return true;
    } catch {
      return false;
    }
  }
}
