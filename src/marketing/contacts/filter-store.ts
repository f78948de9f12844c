/**
 * SQL of filters. Ids come from an index, in order and in pieces; which of them fit is asked of so many at once. So no
 * statement looks at more rows than it was told to, however many a list has.
 */
import { and, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll } from '../../platform/database/raw-sql.ts';
import { afterPrefix, type Criteria } from './filter-members-store.ts';
import { contacts } from './tables.ts';

/* --- Ids, from an index ------------------------------------------------------------------------------------------- */

/** By id: the order in which contacts came, or the newest first. */
export type Order = 'oldest' | 'newest';

interface Piece {
  /** Ids behind this one, in the order asked for; null: from the first on. */
  behind: number | null;
  limit: number;
  /** So many of them are passed over. */
  offset?: number;
}
/** Ids in order, some at a time. */
export type IdSource = (read: Tx, piece: Piece) => number[];

type Value = string | number;
const walkOf = (from: string, id: string, where: string) => {
  const inOrder = (beyond: string, order: string) =>
    rawAll<{ id: number }, Value[]>(
      `SELECT ${id} AS id FROM ${from} WHERE ${where} AND ${id} ${beyond} ? ORDER BY ${id} ${order} LIMIT ? OFFSET ?`,
    );
  return { oldest: inOrder('>', 'ASC'), newest: inOrder('<', 'DESC') };
};
const WALKS = {
  list: walkOf('contacts INDEXED BY contacts_by_list', 'id', 'list_id = ?'),
  status: walkOf('contacts INDEXED BY contacts_by_status', 'id', 'list_id = ? AND status = ?'),
  tag: walkOf('contact_tags INDEXED BY contact_tags_by_tag', 'contact_id', 'list_id = ? AND tag = ?'),
  tag_and_status: walkOf(
    'contact_tags INDEXED BY contact_tags_by_status',
    'contact_id',
    'list_id = ? AND tag = ? AND status = ?',
  ),
};
const FIRST = { oldest: 0, newest: Number.MAX_SAFE_INTEGER };

function sourceOf(
  walk: (typeof WALKS)[keyof typeof WALKS],
  order: Order,
  values: readonly Value[],
): IdSource {
  return (read, { behind, limit, offset = 0 }) =>
    walk[order](read, ...values, behind ?? FIRST[order], limit, offset).map(({ id }) => id);
}

/** All contacts of a list with a status, a tag, both or neither. */
export function idsOf(
  list_id: number,
  of: { status?: Criteria['status'] | undefined; tag?: string | undefined },
  order: Order,
): IdSource {
  const { status, tag } = of;
  if (tag !== undefined && status !== undefined)
    return sourceOf(WALKS.tag_and_status, order, [list_id, tag, status]);
  if (tag !== undefined) return sourceOf(WALKS.tag, order, [list_id, tag]);
  if (status !== undefined) return sourceOf(WALKS.status, order, [list_id, status]);
  return sourceOf(WALKS.list, order, [list_id]);
}

/** Ids that are at hand. */
export function theseIds(ids: readonly number[], order: Order): IdSource {
  const sorted = Float64Array.from(new Set(ids)).sort();
  if (order === 'newest') sorted.reverse();
  const is_behind = (id: number, behind: number): boolean => (order === 'oldest' ? id > behind : id < behind);
  return (_read, { behind, limit, offset = 0 }) => {
    const first = behind === null ? 0 : sorted.findIndex((id) => is_behind(id, behind));
    return first < 0 ? [] : [...sorted.subarray(first + offset, first + offset + limit)];
  };
}

/* --- Those that an index finds at once ---------------------------------------------------------------------------- */

const byEmail = rawAll<{ id: number }, [number, string, string, number]>(
  'SELECT id FROM contacts WHERE list_id = ? AND email >= ? AND email < ? LIMIT ?',
);
const byName = (name: 'first_name' | 'last_name') =>
  rawAll<{ id: number }, [number, string, string, number]>(
    `SELECT id FROM contacts INDEXED BY contacts_by_${name} WHERE list_id = ? AND ${name} IS NOT NULL
     AND ${name} >= ? COLLATE NOCASE AND ${name} < ? COLLATE NOCASE LIMIT ?`,
  );
const byFirstName = byName('first_name');
const byLastName = byName('last_name');
const byClick = rawAll<{ id: number }, [number, number, number]>(
  'SELECT id FROM contacts INDEXED BY contacts_by_click WHERE list_id = ? AND clicked_at >= ? LIMIT ?',
);

/** Ids of contacts whose address or name begins so, or who clicked since; null where they are more than `max`. */
export function findFew(
  read: Tx,
  list_id: number,
  { q, clicked_from_ms }: Pick<Criteria, 'q' | 'clicked_from_ms'>,
  max: number,
): number[] | null {
  if (q !== undefined) {
    const email = q.toLowerCase();
    const found = [
      ...byEmail(read, list_id, email, afterPrefix(email), max + 1),
      ...byFirstName(read, list_id, q, afterPrefix(q), max + 1),
      ...byLastName(read, list_id, q, afterPrefix(q), max + 1),
    ];
    if (found.length <= max) return found.map(({ id }) => id);
  }
  if (clicked_from_ms === undefined) return null;
  const found = byClick(read, list_id, clicked_from_ms, max + 1);
  return found.length <= max ? found.map(({ id }) => id) : null;
}

/* --- Which of these ----------------------------------------------------------------------------------------------- */

/** Those of these contacts that are of the list and fit, in their order. One SELECT. */
export function matching(read: Tx, list_id: number, criteria: Criteria, ids: readonly number[]): number[] {
  if (ids.length === 0) return [];
  const found = read
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      and(
        sql`${contacts.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
        // The plus keeps SQLite from walking an index of the whole list.
        sql`+${contacts.list_id} = ${list_id}`,
        ...criteria.conditionsOf(list_id),
      ),
    )
    .all();
  const fits = new Set(found.map(({ id }) => id));
  return ids.filter((id) => fits.has(id));
}
