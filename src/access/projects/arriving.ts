/** A project on its way here (operation/transfers): nobody sees it until all of it has arrived. */
import type { Tx } from '../../platform/database/database.ts';
import { insertRecord, rawAll, rawRun, rawValue } from '../../platform/database/raw-sql.ts';
import { arrivingLinkDomain } from './link-domains.ts';
import { generateSlug } from './slugs.ts';
import { findProjectBySlug } from './store.ts';

/** The name of a project that is here, or on its way. */
export const findArrived = rawValue<string, [public_id: string]>(
  'SELECT name FROM projects WHERE public_id = ?',
);

/** Those whose import is under way, or broke off. */
export const listArriving = rawAll<{ id: number; public_id: string }>(
  "SELECT id, public_id FROM projects WHERE status = 'arriving'",
);

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

const linkDomain = rawValue<string, [number]>('SELECT link_domain FROM projects WHERE id = ?');

/** The link domain that it had, where it can't have that here. */
export function lostLinkDomains(read: Tx, id: number, { link_domain = null }: Arriving): string[] {
  return link_domain === null || linkDomain(read, id) ? [] : [String(link_domain)];
}

const show = rawRun<[string, string, number, number]>(
  "UPDATE projects SET status = ?, slug = ?, updated_at = ? WHERE id = ? AND status = 'arriving'",
);

/** Shows the project under its slug, or with a number where that is taken. Returns it; null: gone. */
export function showArriving(
  tx: Tx,
  id: number,
  as: { is_active: boolean; slug: string; now_ms: number },
): string | null {
  const slug = generateSlug(as.slug, (each) => findProjectBySlug(tx, each) !== null);
  return show(tx, as.is_active ? 'active' : 'inactive', slug, as.now_ms, id) === 1 ? slug : null;
}

export const deleteArriving = rawRun<[id: number]>(
  "DELETE FROM projects WHERE id = ? AND status = 'arriving'",
);
