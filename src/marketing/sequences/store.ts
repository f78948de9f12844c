/** SQL of sequences. */
import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { campaignStore } from '../campaign-store.ts';
import { type SequenceRow, sequences } from './tables.ts';

/** Open are active ones, and paused ones, whose mail only waits: these enroll contacts. */
export const rows = campaignStore(sequences, sql`${sequences.status} IN ('active', 'paused')`);

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

const namedTemplates = rawSql<{ project_id: number; template: string }, []>(
  "SELECT DISTINCT project_id, value ->> 'template' template FROM sequences, json_each(steps)",
);

/** The templates that steps of all projects name. */
export function listTemplates(read: Tx): { project_id: number; template: string }[] {
  return namedTemplates.all(read);
}
