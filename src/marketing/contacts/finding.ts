/**
 * Finding the contacts that a filter fits, a few at a time: a page of them, how many there are, or all of them. Between the
 * pieces others have their turn, so that nobody waits for a list of a million.
 */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { type Found, findInPieces, type PageQuery, startOf } from '../../platform/http/pagination.ts';
import type { Lists } from '../lists/service.ts';
import type { Criteria } from './filter-members-store.ts';
import { pieceOf } from './filter-rules.ts';
import { findFew, type IdSource, idsOf, matching, type Order, theseIds } from './filter-store.ts';
import { findContacts } from './store.ts';
import type { ContactRow } from './tables.ts';

/** Contacts that are looked at before others have their turn, fewer where the filter asks for much: one or two milliseconds. */
const SCAN_PIECE = 1_000;
/** Entries of an index that are passed over at once: a millisecond. */
const SKIP_PIECE = 20_000;
/** An index that finds as few as these tells all of them at once, in some milliseconds; of more, each contact is asked. */
const FEW = 10_000;

export interface FindingDeps {
  database: Database;
  lists: Pick<Lists, 'countContacts'>;
}

/** Ids in the order asked for, among which are all that fit: from the index that leaves the fewest to be looked at. */
function candidatesOf(on: FindingDeps, list_id: number, criteria: Criteria, order: Order): IdSource {
  const { status, tags_all } = criteria;
  const few = findFew(on.database.read, list_id, criteria, FEW);
  if (few) return theseIds(few, order);
  const counted = tags_all.map((tag) => ({ tag, n: on.lists.countContacts(list_id, { status, tag }) }));
  const [rarest] = counted.sort((a, b) => a.n - b.n);
  return idsOf(list_id, rarest ? { status, tag: rarest.tag } : { status }, order);
}

/**
 * All that fit, by ids, in pieces of `size` or fewer; empty ones among them, where many were looked at and none fits.
 * Each piece is read when it is asked for, within a transaction too.
 */
export function* piecesOf(
  on: FindingDeps,
  list_id: number,
  criteria: Criteria,
  { order, size = SCAN_PIECE }: { order: Order; size?: number },
): Generator<number[], undefined> {
  const candidates = candidatesOf(on, list_id, criteria, order);
  const limit = pieceOf(criteria, SCAN_PIECE);
  for (let behind: number | null = null; ; ) {
    const { read } = on.database;
    const ids: number[] = candidates(read, { behind, limit });
    const last = ids.at(-1);
    if (last === undefined) return;
    behind = last;
    const fitting = criteria.is_counted ? ids : matching(read, list_id, criteria, ids);
    for (let from = 0; from === 0 || from < fitting.length; from += size)
      yield fitting.slice(from, from + size);
  }
}

/** How many fit. */
export async function countMatches(on: FindingDeps, list_id: number, criteria: Criteria): Promise<number> {
  const { status, tags_all } = criteria;
  if (criteria.is_counted) return on.lists.countContacts(list_id, { status, tag: tags_all[0] });
  let count = 0;
  for (const piece of piecesOf(on, list_id, criteria, { order: 'oldest' })) {
    count += piece.length;
    await letOthers();
  }
  return count;
}

/** The ids of a page, newest first, and how many fit. */
export async function findPage(
  on: FindingDeps,
  list_id: number,
  criteria: Criteria,
  query: PageQuery,
): Promise<Found<number>> {
  if (!criteria.is_counted) return findInPieces(query, piecesOf(on, list_id, criteria, { order: 'newest' }));
  const { offset, per_page } = startOf(query);
  const found = { total: await countMatches(on, list_id, criteria), is_capped: false };
  if (offset >= found.total) return { ...found, data: [] };
  const source = idsOf(list_id, { status: criteria.status, tag: criteria.tags_all[0] }, 'newest');
  const behind = await skip(on, source, offset);
  return { ...found, data: source(on.database.read, { behind, limit: per_page }) };
}

/** The id behind which so many of a source have been passed over; null for none. */
async function skip(on: FindingDeps, source: IdSource, count: number): Promise<number | null> {
  let behind: number | null = null;
  for (let left = count; left > 0; left -= SKIP_PIECE) {
    const [id] = source(on.database.read, { behind, limit: 1, offset: Math.min(left, SKIP_PIECE) - 1 });
    // Some went meanwhile: there is nothing behind the last.
    if (id === undefined) return 0;
    behind = id;
    await letOthers();
  }
  return behind;
}

/** These contacts of a list, each once. Throws AppError `invalid` for ids that are of no contact of it. */
export function requireOfList(
  read: Tx,
  list: { id: number; project_id: number },
  contact_ids: readonly string[],
): ContactRow[] {
  const found = findContacts(read, list.project_id, contact_ids);
  const of_list = new Map(found.filter((row) => row.list_id === list.id).map((row) => [row.public_id, row]));
  const errors: FieldErrors = {};
  contact_ids.forEach((id, index) => {
    if (!of_list.has(id)) errors[`contact_ids.${index}`] = ['must be the id of a contact of this list'];
  });
  refuseAll(errors);
  return [...of_list.values()];
}
