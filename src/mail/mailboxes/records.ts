/** A mailbox as the API, the shell and the console are shown it. */

import { toIso } from '../../platform/host/clock.ts';
import type { InboxRecord } from '../inboxes/service.ts';
import type { EventsRecord } from '../relay-events/service.ts';
import { verpOf } from './outlets.ts';
import { parseRate, tellPace } from './pace.ts';
import { describeRelay } from './relay.ts';
import type { MailboxRecord } from './schemas.ts';
import type { Pace } from './store.ts';
import type { MailboxRow } from './tables.ts';

/**
 * Decision: doctor names what a relay holds against a mailbox until the next success, and no longer than
 * this.
 */
const MAILBOX_REFUSAL_SHOWN_MS = 86_400_000;

/** What a record has besides the row. */
interface Known {
  domain: string;
  inbox: InboxRecord | null;
  events: EventsRecord | null;
  used_today: number;
  pace: Pace | null;
  now_ms: number;
}

export function presentMailbox(mailbox: MailboxRow, known: Known): MailboxRecord {
  const { inbox, events, now_ms } = known;
  const is_resting = mailbox.status === 'active' && (mailbox.resting_until ?? 0) > now_ms;
  const rate = mailbox.rate === null ? null : parseRate(mailbox.rate);
  const pace = known.pace && tellPace(known.pace, rate, now_ms);
  const is_refused = mailbox.refused_at !== null && now_ms - mailbox.refused_at < MAILBOX_REFUSAL_SHOWN_MS;
  return {
    id: mailbox.id,
    address: mailbox.address,
    domain: known.domain,
    kind: mailbox.kind,
    relay: describeRelay(mailbox),
    return_path: mailbox.return_path,
    ...verpOf(mailbox, inbox !== null),
    for: [
      ...(mailbox.for_transactional ? ['transactional' as const] : []),
      ...(mailbox.for_marketing ? ['marketing' as const] : []),
    ],
    daily_limit: mailbox.daily_limit,
    rate: mailbox.rate,
    pace: pace && { ...pace, since: toIso(pace.since), waits_until: toIso(pace.waits_until) },
    used_today: known.used_today,
    state: is_resting ? 'resting' : mailbox.status,
    resting_until: is_resting ? toIso(mailbox.resting_until) : null,
    failures: mailbox.failures,
    last_error: mailbox.last_error,
    last_failure_at: toIso(mailbox.last_failure_at),
    last_success_at: toIso(mailbox.last_success_at),
    refusal: is_refused ? mailbox.refusal : null,
    refused_at: is_refused ? toIso(mailbox.refused_at) : null,
    inbox,
    events,
    created_at: toIso(mailbox.created_at),
  };
}
