/** SQL of what sequences and broadcasts are alike in: their rows, and how the last of their mails ended. */
import { and, count, desc, eq, getTableName, isNotNull, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { BOUNCE_WINDOW_SENDS, REFUSAL_WINDOW_MAILS } from '../limits.ts';
import type { Tx } from '../platform/database/database.ts';
import { type RecordStore, recordStore } from '../platform/database/record-store.ts';
import { readRowCount } from '../platform/database/store.ts';

/** A row of a sequence or a broadcast, as far as they are alike. */
export interface CampaignRow {
  id: number;
  public_id: string;
  project_id: number;
  list_id: number;
  name: string;
  status: string;
  pause_reason: string | null;
  job_id: string | null;
  bounces_since: number | null;
  /** Of a broadcast that a test key sent: it says nothing about the list, nor about us. */
  is_test?: boolean;
}

export type PauseReason =
  | 'manual'
  | 'moved'
  | 'restored'
  | 'late'
  | 'not_ready'
  | 'bounce_threshold'
  | 'relay_refuses';

/** What is changed of either. */
type CampaignChanges = Partial<{
  status: 'paused';
  pause_reason: PauseReason;
  job_id: string;
  updated_at: number;
}>;

interface Filter<Row extends CampaignRow> {
  project_id: number;
  status?: Row['status'] | undefined;
  name?: string | undefined;
}

export interface CampaignStore<Row extends CampaignRow> extends Omit<RecordStore<Row>, 'list' | 'update'> {
  /** Newest first. */
  list(read: Tx, filter: Filter<Row>, page: { limit: number; offset: number }): Row[];
  count(read: Tx, filter: Filter<Row>): number;
  /** Those of all projects that go out or are paused. */
  listOpen(read: Tx): Row[];
  /** Those of a list. */
  listOpenOfList(read: Tx, list_id: number): Row[];
  /** Those that a restore paused, of a project or of all. */
  listHeld(read: Tx, project_id: number | null): Row[];
  /** Those of all projects that are paused, but not by hand, nor as their project moved, nor by a restore. */
  listPausedByThemselves(read: Tx): Row[];
  update(tx: Tx, id: number, changes: Partial<Omit<Row, 'id'>> | CampaignChanges): Row;
}

type Columns<Names extends string> = SQLiteTable & Readonly<Record<Names, SQLiteColumn>>;
type CampaignTable = Columns<
  'id' | 'public_id' | 'project_id' | 'list_id' | 'name' | 'status' | 'pause_reason'
>;

/**
 * The SQL of the rows of one table; `is_open` finds those that go out or are paused, in words that its
 * partial index has. Drizzle can't tell the rows of a table that it gets as a parameter: they are its
 * columns.
 */
export function campaignStore<Row extends CampaignRow>(
  table: CampaignTable & { $inferSelect: Row },
  is_open: SQL,
): CampaignStore<Row> {
  const { id, project_id, status } = table;
  const list_name = getTableName(table);
  const records = recordStore<Row>(table);
  const matches = (of: Filter<Row>): SQL | undefined =>
    and(
      eq(project_id, of.project_id),
      of.status === undefined ? undefined : eq(status, of.status),
      of.name === undefined ? undefined : eq(table.name, of.name),
    );
  const select = (read: Tx, where: SQL | undefined) =>
    read.select().from<SQLiteTable>(table).where(where).orderBy(desc(id));
  return {
    ...records,
    list: (read, filter, page) => records.list(read, matches(filter), page),
    count(read, filter) {
      if (filter.status === undefined && filter.name === undefined)
        return readRowCount(read, { list: list_name, project_id: filter.project_id });
      return read.select({ n: count() }).from<SQLiteTable>(table).where(matches(filter)).get()?.n ?? 0;
    },
    listOpen: (read) => select(read, is_open).all() as Row[],
    listOpenOfList: (read, list_id) => select(read, and(eq(table.list_id, list_id), is_open)).all() as Row[],
    listHeld(read, of_project) {
      const of = of_project === null ? undefined : eq(project_id, of_project);
      return select(
        read,
        and(is_open, sql`${status} = 'paused'`, eq(table.pause_reason, 'restored'), of),
      ).all() as Row[];
    },
    listPausedByThemselves(read) {
      const by_itself = notInArray(table.pause_reason, ['manual', 'moved', 'restored']);
      return select(read, and(is_open, sql`${status} = 'paused'`, by_itself)).all() as Row[];
    },
    update: (tx, of, changes) =>
      tx.update<SQLiteTable>(table).set(changes).where(eq(id, of)).returning().get() as Row,
  };
}

/* --- How mails ended -------------------------------------------------------------------------------------------------- */

type MailTable = Columns<'email_id' | 'ended_at' | 'sent_at' | 'bounced_at' | 'complained_at' | 'refused_at'>;

/** How the last mails ended: for the bounce threshold, and for refusals by relays. */
export interface Ended {
  returned: { sent: number; returned: number };
  refused: { ended: number; refused: number; last: string | null };
}

/**
 * How the last mails of one ended, since it began or was resumed. `isOf` selects its mails, without tests.
 */
export function endedStore(table: MailTable, isOf: (id: number) => SQL | undefined) {
  const { email_id, ended_at, sent_at, bounced_at, complained_at, refused_at } = table;
  const ended = (read: Tx, { id, bounces_since }: Pick<CampaignRow, 'id' | 'bounces_since'>, also?: SQL) =>
    read
      .select({
        email_id: sql<string>`${email_id}`,
        returned_at: sql<number | null>`coalesce(${bounced_at}, ${complained_at})`,
        refused_at,
      })
      .from<SQLiteTable>(table)
      .where(and(isOf(id), sql`${ended_at} >= ${bounces_since ?? 0}`, also))
      .orderBy(desc(ended_at));
  return {
    /** How many bounced or were complained about. */
    countReturned(read: Tx, row: Pick<CampaignRow, 'id' | 'bounces_since'>): Ended['returned'] {
      // A refusal for another reason tells nothing about the recipient.
      const last = ended(read, row, or(isNotNull(sent_at), isNotNull(bounced_at)))
        .limit(BOUNCE_WINDOW_SENDS)
        .all();
      return { sent: last.length, returned: last.filter((mail) => mail.returned_at !== null).length };
    },

    /** How many a relay refused because of us, and which mail last. */
    countRefused(read: Tx, row: Pick<CampaignRow, 'id' | 'bounces_since'>): Ended['refused'] {
      const last = ended(read, row).limit(REFUSAL_WINDOW_MAILS).all();
      const refused = last.filter((mail) => mail.refused_at !== null);
      return { ended: last.length, refused: refused.length, last: refused[0]?.email_id ?? null };
    },
  };
}
export type EndedStore = ReturnType<typeof endedStore>;
