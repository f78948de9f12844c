/**
 * Changing the key that a domain's mail is signed with: the new one waits for its record to be seen, the old
 * one's stays a while.
 */
import { DAY_MS, toIso } from '../../platform/host/clock.ts';
import { dkimRecord } from './dns-records.ts';
import type { DkimRotation } from './schemas.ts';
import type { DomainRow } from './tables.ts';

/** Mail signed with an old key may be on its way for this long: servers try 4 to 5 days (RFC 5321). */
const DKIM_OLD_KEY_DAYS = 7;

interface NextKey {
  selector: string;
  public_key: string;
  sealed: string;
}

/** The key that waits; null where none does. */
export function nextKeyOf(domain: DomainRow): NextKey | null {
  const {
    next_dkim_selector: selector,
    next_dkim_public_key: public_key,
    next_sealed_dkim_private_key: sealed,
  } = domain;
  return selector === null || public_key === null || sealed === null
    ? null
    : { selector, public_key, sealed };
}

/** What of a domain changes as a new key begins to wait. */
export function withNextKey(domain: DomainRow, key: Omit<NextKey, 'selector'>): Partial<DomainRow> {
  return {
    next_dkim_selector: selectorAfter(domain.dkim_selector),
    next_dkim_public_key: key.public_key,
    next_sealed_dkim_private_key: key.sealed,
  };
}

/** What of a domain changes as the key that waited is taken into use. */
export function withNextKeyInUse(domain: DomainRow, next: NextKey, now_ms: number): Partial<DomainRow> {
  return {
    dkim_selector: next.selector,
    dkim_public_key: next.public_key,
    sealed_dkim_private_key: next.sealed,
    next_dkim_selector: null,
    next_dkim_public_key: null,
    next_sealed_dkim_private_key: null,
    old_dkim_selector: domain.dkim_selector,
    old_dkim_public_key: domain.dkim_public_key,
    dkim_rotated_at: now_ms,
  };
}

/** The key that waits for its record, or the last change of keys; null where there was none. */
export function rotationOf(domain: DomainRow): DkimRotation | null {
  const { name, dkim_selector, old_dkim_selector, dkim_rotated_at } = domain;
  const nameOf = (selector: string): string => `${selector}._domainkey.${name}`;
  const next = nextKeyOf(domain);
  if (next) {
    const record = dkimRecord(name, next.selector, next.public_key);
    return { state: 'waiting', record, old_name: nameOf(dkim_selector), old_unneeded_from: null };
  }
  if (old_dkim_selector === null || dkim_rotated_at === null) return null;
  return {
    state: 'done',
    record: dkimRecord(name, dkim_selector, domain.dkim_public_key),
    old_name: nameOf(old_dkim_selector),
    old_unneeded_from: toIso(dkim_rotated_at + DKIM_OLD_KEY_DAYS * DAY_MS),
  };
}

/**
 * `satchel`, `satchel2`, `satchel3`: each key has a name of its own, so that both may be published at once.
 */
function selectorAfter(selector: string): string {
  const number = Number(/\d+$/.exec(selector)?.[0] ?? 1);
  return `${selector.replace(/\d+$/, '')}${number + 1}`;
}
