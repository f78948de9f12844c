/**
 * The sending domains as a project's mail knows them: whatever chooses, checks or lists domains for a project
 * asks here.
 */
import { sendingOf } from '../../access/projects/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type DomainStanding, listStandings } from './store.ts';

/**
 * The domains that a project may send from; to it there are no others. Its default is the one that it names,
 * else the default of all, else the first of its own.
 */
export function listStandingsFor(tx: Tx, project_id: number): DomainStanding[] {
  const all = listStandings(tx);
  const { sending_domain, sending_domains } = sendingOf(tx, project_id);
  if (sending_domain === null && sending_domains === null) return all;
  const own = sending_domains
    ? sending_domains.flatMap((name) => all.find(({ domain }) => domain === name) ?? [])
    : all;
  const first =
    own.find(({ domain }) => domain === sending_domain) ??
    own.find(({ is_default }) => is_default === 1) ??
    (sending_domains ? own[0] : undefined);
  return own.map((domain) => ({ ...domain, is_default: domain === first ? 1 : 0 }));
}
