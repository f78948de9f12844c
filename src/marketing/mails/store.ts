/** SQL of the sources of marketing mail and of where their links lead. */
import { eq, inArray } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { mergeLinks, mergeSources } from './tables.ts';

// Written out here and below, where every mail of a sequence passes.
const idOfHash = rawSql<{ id: number }, [number, string]>(
  'SELECT id FROM merge_sources WHERE project_id = ? AND hash = ?',
);

export function findSourceId(read: Tx, project_id: number, hash: string): number | null {
  return idOfHash.get(read, project_id, hash)?.id ?? null;
}

const hashOfId = rawSql<{ hash: string }, [number, number]>(
  'SELECT hash FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSourceHash(read: Tx, project_id: number, id: number): string | null {
  return hashOfId.get(read, id, project_id)?.hash ?? null;
}

const contentOf = rawSql<{ content: string }, [number, number]>(
  'SELECT content FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSource(read: Tx, project_id: number, id: number): string | null {
  return contentOf.get(read, id, project_id)?.content ?? null;
}

/** Stores a source with the targets of its links, from position 1 on; returns its id. */
export function insertSource(
  tx: Tx,
  source: Omit<typeof mergeSources.$inferSelect, 'id'>,
  links: readonly Omit<LinkRow, 'project_id'>[],
): number {
  const { id } = tx.insert(mergeSources).values(source).returning({ id: mergeSources.id }).get();
  if (links.length > 0)
    tx.insert(mergeLinks)
      .values(links.map((link, index) => ({ ...link, source_id: id, position: index + 1 })))
      .run();
  return id;
}

const namedBefore = rawSql<{ source_id: number }, [number]>(
  'SELECT source_id FROM merge_source_names WHERE former_id = ?',
);

/** Sources that had this id before their project moved here. */
export function listFormerlyNamed(read: Tx, id: number): number[] {
  return namedBefore.all(read, id).map(({ source_id }) => source_id);
}

/** Where a link leads, as it is stored, and whose it is. */
export interface LinkRow {
  project_id: number;
  target: string;
  token_hosts: string | null;
  utm: string | null;
}

// Written out, as every click passes: a redirect costs little more than this.
const link = rawSql<LinkRow, [number, number]>(`
    SELECT s.project_id, l.target, l.token_hosts, l.utm FROM merge_links l JOIN merge_sources s ON s.id = l.source_id
    WHERE l.source_id = +? AND l.position = +?`);

export function findLink(read: Tx, source_id: number, position: number): LinkRow | null {
  return link.get(read, source_id, position);
}

/** The links of these sources, in the order of their positions. */
export function listLinks(read: Tx, source_ids: readonly number[]) {
  const { source_id, position, target } = mergeLinks;
  return read
    .select({ source_id, position, target })
    .from(mergeLinks)
    .where(inArray(source_id, [...source_ids]))
    .orderBy(source_id, position)
    .all();
}

/** Whose a source is; null for one that is gone. */
export function findSourceOwner(read: Tx, id: number): { project_id: number } | null {
  const { project_id } = mergeSources;
  return read.select({ project_id }).from(mergeSources).where(eq(mergeSources.id, id)).get() ?? null;
}
