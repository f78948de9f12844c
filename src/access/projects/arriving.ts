/** A project on its way here (operation/transfers): nobody sees it until all of it has arrived. */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { insertRecord } from '../../platform/database/records.ts';
import { arrivingLinkDomain } from './link-domains.ts';
import { generateSlug } from './slugs.ts';
import { findProjectBySlug } from './store.ts';

const known = rawSql<{ name: string }, [string]>('SELECT name FROM projects WHERE public_id = ?');

/** The name of a project that is here, or on its way. */
export function findArrived(read: Tx, public_id: string): string | null {
  return known.get(read, public_id)?.name ?? null;
}

const arriving = rawSql<{ id: number; public_id: string }, []>(
  "SELECT id, public_id FROM projects WHERE status = 'arriving'",
);

/** Those whose import is under way, or broke off. */
export function listArriving(read: Tx): { id: number; public_id: string }[] {
  return arriving.all(read);
}

/** The row that a project has elsewhere. */
type Arriving = Readonly<Record<string, string | number | null>>;

/** Takes in the row that a project has elsewhere, and returns its number here. */
export function insertArriving(tx: Tx, row: Arriving, public_url: string): number {
  const { id: _elsewhere, ...rest } = row;
  const slug = `arriving-${String(row.public_id).toLowerCase()}`;
  return insertRecord(tx, 'projects', {
    ...rest,
    slug,
    status: 'arriving',
    is_moved: 0,
    ...arrivingLinkDomain(tx, row.link_domain, public_url),
  });
}

const linkDomain = rawSql<{ link_domain: string | null }, [number]>(
  'SELECT link_domain FROM projects WHERE id = ?',
);

/** The link domain that it had, where it can't have that here. */
export function lostLinkDomains(read: Tx, id: number, { link_domain = null }: Arriving): string[] {
  return link_domain === null || linkDomain.get(read, id)?.link_domain ? [] : [String(link_domain)];
}

const show = rawSql<never, [string, string, number, number]>(
  "UPDATE projects SET status = ?, slug = ?, updated_at = ? WHERE id = ? AND status = 'arriving'",
);

/** Shows the project under its slug, or with a number where that is taken. Returns it; null: gone. */
export function showArriving(
  tx: Tx,
  id: number,
  as: { is_active: boolean; slug: string; now_ms: number },
): string | null {
  const slug = generateSlug(as.slug, (each) => findProjectBySlug(tx, each) !== null);
  return show.run(tx, as.is_active ? 'active' : 'inactive', slug, as.now_ms, id) === 1 ? slug : null;
}

const remove = rawSql<never, [number]>("DELETE FROM projects WHERE id = ? AND status = 'arriving'");

export function deleteArriving(tx: Tx, id: number): void {
  remove.run(tx, id);
}
