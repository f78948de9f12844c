/** Failed sign-ins on the audit trail: a row for each account and window, with a count; and doctor. */
import { countInAudit, listAudit, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import { SYSTEM } from '../../platform/http/callers.ts';
import type { PersonRow } from './tables.ts';

/** Lock-outs of the last day are told by doctor. */
const LOCK_OUTS_TOLD_MS = 86_400_000;
/** Networks that the audit row of failed sign-ins names, the first ones. */
const MAX_NAMED_NETWORKS = 20;

const EVENT = 'person.sign_in_failed';
/** Equal to the windows of the limits. */
const WINDOW_MS = 15 * MINUTE_MS;

interface FailureMetadata extends Record<string, unknown> {
  /** The account's address. What was typed for an unknown one is kept nowhere: it may be a password. */
  email?: string;
  count: number;
  /** How many of them had the right password, and a wrong code. */
  wrong_codes: number;
  /** Whether anybody had to wait: strangers, or somebody from where the person signed in before. */
  locked_out: boolean;
  /** The first networks it came from. */
  networks: string[];
}

export interface Failure {
  /** Null for an unknown name: all of these share one row. */
  person: PersonRow | null;
  network: string;
  is_wrong_code: boolean;
  locks_out: boolean;
}

/** Counts a failure, within the transaction that counts it against the limits. */
export function recordFailure(tx: Tx, failure: Failure, now_ms: number): void {
  const { person, network, is_wrong_code, locks_out } = failure;
  const target = person ? `person:${person.id}` : null;
  const window = { since_ms: now_ms - WINDOW_MS + 1, until_ms: now_ms + 1 };
  const [row] = listAudit(tx, { event: EVENT, target, ...window }, 1, 0);
  const before = row ? readMetadata(row.metadata) : null;
  const networks = before?.networks ?? [];
  const is_named = networks.includes(network) || networks.length >= MAX_NAMED_NETWORKS;
  const metadata: FailureMetadata = {
    ...(person ? { email: person.email } : {}),
    count: (before?.count ?? 0) + 1,
    wrong_codes: (before?.wrong_codes ?? 0) + (is_wrong_code ? 1 : 0),
    locked_out: (before?.locked_out ?? false) || (locks_out && person !== null),
    networks: is_named ? networks : [...networks, network],
  };
  if (row) countInAudit(tx, row.id, metadata);
  else recordAudit(tx, SYSTEM, { event: EVENT, target, project: null, metadata }, now_ms);
}

/** The accounts that were locked out in the last day, the newest first, with what was tried. */
export function listLockOuts(
  read: Tx,
  now_ms: number,
): { email: string; count: number; networks: string[] }[] {
  const window = { since_ms: now_ms - LOCK_OUTS_TOLD_MS, until_ms: now_ms + 1 };
  const by_email = new Map<string, { email: string; count: number; networks: string[] }>();
  for (const { metadata } of listAudit(read, { event: EVENT, ...window }, -1, 0)) {
    const { email, count, locked_out, networks } = readMetadata(metadata);
    if (email === undefined || !locked_out) continue;
    const told = by_email.get(email) ?? { email, count: 0, networks: [] };
    const all = new Set([...told.networks, ...networks]);
    by_email.set(email, { email, count: told.count + count, networks: [...all] });
  }
  return [...by_email.values()];
}

/** The metadata of a row that only `recordFailure` writes. */
function readMetadata({
  email,
  count,
  wrong_codes,
  locked_out,
  networks,
}: Record<string, unknown>): FailureMetadata {
  return {
    ...(typeof email === 'string' ? { email } : {}),
    count: Number(count),
    wrong_codes: Number(wrong_codes),
    locked_out: locked_out === true,
    networks: Array.isArray(networks) ? networks.map(String) : [],
  };
}
