/** Who gets a broadcast, and why somebody on its list does not: asked before it is sent, and again when somebody's turn comes. */
import type { Tx } from '../../platform/database/database.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { parse } from '../../platform/http/schema.ts';
import {
  barOf,
  type ContactFilter,
  type ContactStanding,
  type Contacts,
  contact_filter,
  pieceFor,
} from '../contacts/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import { leftOutOf } from './records.ts';
import type { LeftOut } from './schemas.ts';
import type { BroadcastRow, LeftOutReason } from './tables.ts';

/** Contacts that are looked at while others wait, fewer where the filter asks for much: some milliseconds. */
const AUDIENCE_PIECE = 500;

interface AudienceDeps {
  contacts: Contacts;
  suppressions: Suppressions;
}

/** How many would get a broadcast, and how many would not and why. */
export interface Count {
  recipients: number;
  left_out: LeftOut;
}

/** The filter of a broadcast as it was stored; null where it is for everybody. */
export function filterOf({ filter }: Pick<BroadcastRow, 'filter'>): ContactFilter | null {
  return filter === null ? null : parse(contact_filter, filter);
}

/** Why each of these contacts of its list gets nothing, for those who do not. The filter's days count back from `now_ms`. */
export function judge(
  { contacts, suppressions }: AudienceDeps,
  read: Tx,
  of: { owner: KeyOwner; broadcast: Pick<BroadcastRow, 'list_id' | 'filter'>; now_ms: number },
  piece: readonly ContactStanding[],
): Map<number, LeftOutReason> {
  const { owner, broadcast, now_ms } = of;
  const suppressed = suppressions.checker(read, owner);
  const reasons = new Map<number, LeftOutReason>();
  for (const contact of piece) {
    const bar = barOf(contact, suppressed);
    if (bar) reasons.set(contact.id, bar.status ?? 'suppressed');
  }
  const filter = filterOf(broadcast);
  if (filter === null) return reasons;
  const asked = piece.flatMap(({ id }) => (reasons.has(id) ? [] : [id]));
  const fitting = contacts.matching(broadcast.list_id, { filter, now_ms }, asked, read);
  for (const id of asked) if (!fitting.has(id)) reasons.set(id, 'filter');
  return reasons;
}

/** How many would get it now, of those who had no turn yet. The list is looked at in pieces, between which others have theirs. */
export async function countAudience(
  deps: AudienceDeps,
  read: Tx,
  of: { owner: KeyOwner; broadcast: BroadcastRow; now_ms: number },
): Promise<Count> {
  const { list_id, decided_to, last_contact_id } = of.broadcast;
  const limit = pieceFor(filterOf(of.broadcast) ?? {}, AUDIENCE_PIECE);
  let total = 0;
  const left_out = new Map<LeftOutReason, number>();
  for (let after_id = decided_to; ; ) {
    const found = deps.contacts.listAfter(list_id, { after_id, limit });
    const piece = found.filter(({ id }) => last_contact_id === null || id <= last_contact_id);
    const last = piece.at(-1);
    if (!last) break;
    total += piece.length;
    for (const reason of judge(deps, read, of, piece).values())
      left_out.set(reason, (left_out.get(reason) ?? 0) + 1);
    after_id = last.id;
    await letOthers();
  }
  const told = leftOutOf((reason) => left_out.get(reason) ?? 0);
  return { recipients: total - told.total, left_out: told };
}
