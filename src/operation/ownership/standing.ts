/**
 * How a database stands to an object store that holds files. They belong to one database, and only that may
 * own the store: any other would stop their owner and, as it knows none of them, remove them all.
 */
import { resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { conflict } from '../../errors.ts';
import { OWNER_BEAT_MS, STORE_HOLD_MS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { readMeta } from '../../platform/database/store.ts';
import { PassingFault, StoreFault } from '../../platform/files/s3-requests.ts';
import { S3Store } from '../../platform/files/s3-store.ts';
import { STORE_OWNED } from '../../platform/files/store-hold.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { databasePathOf, hasDatabase } from '../../platform/host/database-file.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { REPLICA_PATHS } from '../replica/service.ts';
import { type Mark, ownerIn, readMark } from './mark.ts';

/** Something keeps a database from a store. */
export interface Foreign {
  /** Of the owner of the files, where that is known. */
  mark: Mark | null;
}

/** A database that may be asked how it stands to a store. */
export interface Asked {
  read: Tx;
  /** True when any object of the database has its bytes in the store. */
  hasObjectIn(read: Tx, store: S3Store): Promise<boolean>;
}

/** Null where the database, or none, may use the store. Throws StoreFault. */
export async function findForeign(store: S3Store, asked: Asked | null): Promise<Foreign | null> {
  if (asked && readMeta(asked.read, STORE_OWNED) === store.place) return null;
  const foreign = await findFiles(store);
  if (!foreign || (asked && (await asked.hasObjectIn(asked.read, store)))) return null;
  return foreign;
}

/** Null where the store holds nothing. */
async function findFiles(store: S3Store): Promise<Foreign | null> {
  try {
    if (!(await store.hasKeys())) return null;
    return { mark: (await readMark(store)).mark };
  } catch (error) {
    // Who may not list removes nothing, but could still stop an owner.
    if (!(error instanceof StoreFault) || error instanceof PassingFault) throw error;
    const { mark } = await readMark(store);
    return mark && { mark };
  }
}

/**
 * Called before a data directory is made. Throws AppError `conflict` where there is no database and the store
 * holds files. A store that does not answer is asked later.
 */
export async function refuseNewDatabase({ object_store, data_dir }: Config): Promise<void> {
  if (!object_store || hasDatabase(data_dir)) return;
  const store = new S3Store(object_store);
  try {
    const foreign = await findForeign(store, null);
    if (foreign) throw conflict(waysOut(store, foreign, data_dir));
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
  }
}

/** Tells an operator so, with the lines to type. */
export function waysOut(store: S3Store, { mark }: Foreign, data_dir: string): string {
  const has_database = hasDatabase(data_dir);
  const dir = has_database ? 'DIR' : shellWord(resolve(data_dir));
  const of_owner = databasePathOf(mark?.data_dir || '/var/lib/satchel');
  const whose = mark ? ` They are of ${ownerIn(mark)}.` : '';
  const knows = has_database
    ? `the database ${databasePathOf(data_dir)} names none of them and never owned it`
    : `there is no database in ${data_dir}`;
  return `The object store ${store.place} holds files, and ${knows}.${whose} Nothing was changed. One of these goes on:
  With those files: restore their database first, and its master.key, into ${has_database ? 'an empty directory DIR' : dir}:
    litestream restore -config ${REPLICA_PATHS.config} -o ${dir}/satchel.db ${shellWord(of_owner)}
    or: satchel restore BACKUP.tar --data-dir ${dir}
    satchel serve --data-dir ${dir} --take-over
  Beside them: name another prefix in SATCHEL_OBJECT_STORE (s3://BUCKET/PREFIX?...).
  In their place: satchel serve --new-store-owner (the old files become this Satchel's, which removes them after ${STORE_HOLD_MS / DAY_MS} days).`;
}

/** The same for the log of a server that goes on without the store. */
export function leftAlone(store: S3Store, { mark }: Foreign): string {
  const whose = mark ? ` of ${ownerIn(mark)}` : '';
  return (
    `the object store ${store.place} holds files${whose} that this database does not know: it is left alone, and nothing can be uploaded. ` +
    `Looked at again each ${OWNER_BEAT_MS / 1_000} s; satchel doctor says the ways out`
  );
}
