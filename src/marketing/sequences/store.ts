/** SQL of sequences. */
import { and, count, desc, eq, notInArray, type SQL, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { type SequenceRow, type SequenceStatus, sequences } from './tables.ts';

const byPublicId = statement((tx) =>
  tx
    .select()
    .from(sequences)
    .where(
      and(
        eq(sequences.project_id, sql.placeholder('project_id')),
        eq(sequences.public_id, sql.placeholder('public_id')),
      ),
    )
    .prepare(),
);

export function findSequence(read: Tx, project_id: number, public_id: string): SequenceRow | undefined {
  return byPublicId(read).get({ project_id, public_id });
}

/** Of whatever project. */
export function findAnySequence(read: Tx, public_id: string): SequenceRow | undefined {
  return read.select().from(sequences).where(eq(sequences.public_id, public_id)).get();
}

/** Newest first. */
export function listSequencesCalled(read: Tx, project_id: number, name: string): SequenceRow[] {
  return read
    .select()
    .from(sequences)
    .where(and(eq(sequences.project_id, project_id), eq(sequences.name, name)))
    .orderBy(desc(sequences.id))
    .all();
}

interface SequenceFilter {
  project_id: number;
  status?: SequenceStatus | undefined;
}

function matches({ project_id, status }: SequenceFilter): SQL | undefined {
  return and(
    eq(sequences.project_id, project_id),
    status === undefined ? undefined : eq(sequences.status, status),
  );
}

/** Newest first. */
export function listSequences(
  read: Tx,
  filter: SequenceFilter,
  page: { limit: number; offset: number },
): SequenceRow[] {
  return read
    .select()
    .from(sequences)
    .where(matches(filter))
    .orderBy(desc(sequences.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countSequences(read: Tx, filter: SequenceFilter): number {
  if (filter.status === undefined)
    return readRowCount(read, { list: 'sequences', project_id: filter.project_id });
  return read.select({ n: count() }).from(sequences).where(matches(filter)).get()?.n ?? 0;
}

export function insertSequence(tx: Tx, row: Omit<SequenceRow, 'id'>): SequenceRow {
  return tx.insert(sequences).values(row).returning().get();
}

export function updateSequence(tx: Tx, id: number, changes: Partial<Omit<SequenceRow, 'id'>>): SequenceRow {
  return tx.update(sequences).set(changes).where(eq(sequences.id, id)).returning().get();
}

// Written out, where every mail of a sequence passes that ends.
const byId = rawSql<SequenceRow, [number]>('SELECT * FROM sequences WHERE id = ?', sequences);

export function findSequenceById(read: Tx, id: number): SequenceRow | undefined {
  return byId.get(read, id) ?? undefined;
}

const IS_OPEN = sql`${sequences.status} IN ('active', 'paused')`;

/** Sequences of a list that enroll contacts: active ones, and paused ones, whose mail only waits. */
export function listOpenSequences(read: Tx, list_id: number): SequenceRow[] {
  return read
    .select()
    .from(sequences)
    .where(and(eq(sequences.list_id, list_id), IS_OPEN))
    .all();
}

// Written out, where every new contact passes.
const enrollingByList = rawSql<SequenceRow, [number]>(
  `SELECT * FROM sequences
   WHERE list_id = +? AND status IN ('active', 'paused') AND auto_enroll_new_contacts = 1`,
  sequences,
);

/** Those of them that take in every new contact. */
export function listEnrollingSequences(read: Tx, list_id: number): SequenceRow[] {
  return enrollingByList.all(read, list_id);
}

/** Every sequence of all projects that is active or paused. */
export function listOpen(read: Tx): SequenceRow[] {
  return read.select().from(sequences).where(IS_OPEN).all();
}

/** Of all projects, but those that were paused by hand or as their project moved. */
export function listPausedByThemselves(read: Tx): SequenceRow[] {
  const is_one = and(eq(sequences.status, 'paused'), notInArray(sequences.pause_reason, ['manual', 'moved']));
  return read.select().from(sequences).where(is_one).all();
}

/** Finished sequences that still have active enrollments. */
export function listFinishedWithActive(read: Tx): { id: number }[] {
  return read
    .select({ id: sequences.id })
    .from(sequences)
    .where(
      and(
        eq(sequences.status, 'finished'),
        sql`EXISTS (SELECT 1 FROM enrollments WHERE sequence_id = ${sequences.id} AND state = 'active')`,
      ),
    )
    .all();
}
