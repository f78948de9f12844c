/** The contacts of a list that a filter means, and why somebody gets nothing: asked of segments, before a broadcast is sent, and when a turn comes. */
import type { Tx } from '../platform/database/database.ts';
import type { Clock } from '../platform/host/clock.ts';
import { letOthers } from '../platform/host/waiting.ts';
import {
  type Bar,
  barOf,
  type ContactFilter,
  type ContactStanding,
  type Contacts,
  isPaused,
  pieceFor,
} from './contacts/service.ts';
import type { KeyOwner } from './settings/service.ts';
import type { Suppressions } from './suppressions/service.ts';

/** Contacts that are looked at while others wait, fewer where the filter asks for much: some milliseconds. */
const AUDIENCE_PIECE = 500;

/** Addresses that are told beside a number: whom a filter means is seen by them. */
const SAMPLES = 5;

export interface AudienceDeps {
  clock: Clock;
  contacts: Contacts;
  suppressions: Suppressions;
}

const NOBODY: ReadonlySet<number> = new Set();

/** The contacts of a list that are meant; a filter of null means everybody. Its days count back from `now_ms`. */
export interface Audience {
  owner: KeyOwner;
  list_id: number;
  filter: ContactFilter | null;
  now_ms: number;
}

/** Why somebody gets nothing. */
export type Reason = NonNullable<Bar['status']> | 'suppressed' | 'paused' | 'filter';

/** Why each of these contacts of the list gets nothing, for those who do not. */
export function judge(
  { clock, contacts, suppressions }: AudienceDeps,
  read: Tx,
  { owner, list_id, filter, now_ms }: Audience,
  piece: readonly ContactStanding[],
): Map<number, Reason> {
  const suppressed = suppressions.checker(read, owner);
  const reasons = new Map<number, Reason>();
  for (const contact of piece) {
    const bar = barOf(contact, suppressed);
    if (bar) reasons.set(contact.id, bar.status ?? 'suppressed');
    else if (isPaused(contact, clock.now())) reasons.set(contact.id, 'paused');
  }
  if (filter === null) return reasons;
  const asked = piece.flatMap(({ id }) => (reasons.has(id) ? [] : [id]));
  const fitting = contacts.matching(list_id, { filter, now_ms }, asked, read);
  for (const id of asked) if (!fitting.has(id)) reasons.set(id, 'filter');
  return reasons;
}

/**
 * How many would get it, the first few of them, and how many would not and why; of those behind `after_id`, up to `last_id`, and not
 * among those `without` whom it goes. The list is looked at in pieces, between which others have their turn.
 */
export async function countAudience(
  deps: AudienceDeps,
  read: Tx,
  audience: Audience,
  {
    after_id: first_id = 0,
    last_id = null,
    without = () => NOBODY,
  }: {
    after_id?: number;
    last_id?: number | null;
    without?(ids: readonly number[]): ReadonlySet<number>;
  } = {},
): Promise<{ recipients: number; left_out: Map<Reason, number>; samples: string[] }> {
  const limit = pieceFor(audience.filter ?? {}, AUDIENCE_PIECE);
  const left_out = new Map<Reason, number>();
  const samples: string[] = [];
  let recipients = 0;
  for (let after_id = first_id; ; ) {
    const found = deps.contacts.listAfter(audience.list_id, { after_id, limit });
    const on_list = found.filter(({ id }) => last_id === null || id <= last_id);
    const last = on_list.at(-1);
    if (!last) return { recipients, left_out, samples };
    const over = without(on_list.map(({ id }) => id));
    const piece = on_list.filter(({ id }) => !over.has(id));
    const reasons = judge(deps, read, audience, piece);
    recipients += piece.length - reasons.size;
    const meant = samples.length < SAMPLES ? piece.filter(({ id }) => !reasons.has(id)) : [];
    samples.push(...meant.slice(0, SAMPLES - samples.length).map(({ email }) => email));
    for (const reason of reasons.values()) left_out.set(reason, (left_out.get(reason) ?? 0) + 1);
    after_id = last.id;
    await letOthers();
  }
}
