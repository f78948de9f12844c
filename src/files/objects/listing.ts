/** Pages of a project's files, newest first. Whoever asks for one far behind, or searches, holds nobody up. */
import type { Database } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import {
  findInPieces,
  type Page,
  type PageQuery,
  pageOf,
  paginate,
  startOf,
} from '../../platform/http/pagination.ts';
import { countObjects, findObjectAt, listObjects, listThese, matchesOf, type Visibility } from './store.ts';
import type { ObjectRow } from './tables.ts';

/** Names that a search looks at before others have their turn: about a millisecond. */
const SEARCH_PIECE = 5_000;
/** Rows that SQLite steps over before others have their turn: about a millisecond. */
const SKIPPED_AT_ONCE = 10_000;

interface ListingDeps {
  database: Database;
  clock: Clock;
}

export interface ObjectQuery extends PageQuery {
  visibility?: Visibility | undefined;
}

/** A page of unexpired files. */
export async function listPage(
  { database, clock }: ListingDeps,
  project_id: number,
  query: ObjectQuery,
): Promise<Page<ObjectRow>> {
  const now_ms = clock.now();
  const filter = { project_id, visibility: query.visibility };
  const { total, expired } = countObjects(database.read, filter, now_ms);
  const at = { behind: Number.MAX_SAFE_INTEGER, now_ms, has_expired: expired > 0 };
  let { offset } = startOf(query);
  // Behind the end there is nothing to step over.
  for (; offset < total && offset > SKIPPED_AT_ONCE; offset -= SKIPPED_AT_ONCE) {
    at.behind = findObjectAt(database.read, filter, { ...at, offset: SKIPPED_AT_ONCE - 1 }) ?? 0;
    await letOthers();
  }
  const fetch = (limit: number): ObjectRow[] => listObjects(database.read, filter, { ...at, limit, offset });
  return paginate(query, { total, fetch });
}

/** A page of those whose name contains `q`. */
export async function searchPage(
  { database, clock }: ListingDeps,
  project_id: number,
  query: ObjectQuery & { q: string },
): Promise<Page<ObjectRow>> {
  const { q, visibility } = query;
  const at = { now_ms: clock.now(), piece: SEARCH_PIECE };
  const pieces = matchesOf(() => database.read, { project_id, visibility, q }, at);
  const found = await findInPieces(query, pieces);
  return pageOf(query, { ...found, data: listThese(database.read, found.data) });
}
