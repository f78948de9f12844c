/** SQL of sequences. */
import { sql } from 'drizzle-orm';
import { rawAll } from '../../platform/database/raw-sql.ts';
import { campaignStore } from '../campaign-store.ts';
import { type SequenceRow, sequences } from './tables.ts';

/** Open are active ones, and paused ones, whose mail only waits: these enroll contacts. */
export const rows = campaignStore(sequences, sql`${sequences.status} IN ('active', 'paused')`);

/** Those of them that take in every new contact. */
export const listEnrollingSequences = rawAll<SequenceRow, [list_id: number]>(
  `SELECT * FROM sequences
   WHERE list_id = +? AND status IN ('active', 'paused') AND auto_enroll_new_contacts = 1`,
  sequences,
);

/** Finished sequences that still have active enrollments. */
export const listFinishedWithActive = rawAll<{ id: number }>(
  `SELECT id FROM sequences WHERE status = 'finished'
   AND EXISTS (SELECT 1 FROM enrollments WHERE sequence_id = sequences.id AND state = 'active')`,
);

/** The templates that steps of all projects name. */
export const listTemplates = rawAll<{ project_id: number; template: string }>(
  "SELECT DISTINCT project_id, value ->> 'template' template FROM sequences, json_each(steps)",
);
