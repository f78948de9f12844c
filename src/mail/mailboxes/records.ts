/** A mailbox as the API, the shell and the console are shown it. */

import { toIso } from '../../platform/host/clock.ts';
import type { InboxRecord } from '../inboxes/service.ts';
import { type PaceRecord, parseRate, tellPace } from './pace.ts';
import { describeRelay } from './relay.ts';
import type { Pace } from './store.ts';
import type { MailboxKind, MailboxRow } from './tables.ts';
import { verpOf } from './verp.ts';

/**
 * Decision: doctor names what a relay holds against a mailbox until the next success, and no longer than
 * this.
 */
const MAILBOX_REFUSAL_SHOWN_MS = 86_400_000;

export interface MailboxRecord {
  id: number;
  address: string;
  domain: string;
  kind: MailboxKind;
  /** With its password masked. */
  relay: string | null;
  return_path: string | null;
  /** Whether each mail gets its own return path. */
  verp: boolean;
  /** Why mails get none although they should. */
  verp_problem: string | null;
  for: string[];
  daily_limit: number | null;
  /** At most so many mails a second, a minute or an hour, such as 14/s. */
  rate: string | null;
  /** Null unless its relay refused mail of late. */
  pace: PaceRecord | null;
  used_today: number;
  /** `resting`: left alone after failures, and tried again by itself. */
  state: 'active' | 'paused' | 'resting';
  resting_until: string | null;
  failures: number;
  last_error: string | null;
  last_failure_at: string | null;
  last_success_at: string | null;
  /**
   * What its relay holds against it, in the relay's words: until it takes a mail again, and for a day at
   * most.
   */
  refusal: string | null;
  refused_at: string | null;
  inbox: InboxRecord | null;
  created_at: string;
}

/** What a record has besides the row. */
interface Known {
  domain: string;
  inbox: InboxRecord | null;
  used_today: number;
  pace: Pace | null;
  now_ms: number;
}

export function presentMailbox(mailbox: MailboxRow, known: Known): MailboxRecord {
  const { inbox, now_ms } = known;
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
      ...(mailbox.for_transactional ? ['transactional'] : []),
      ...(mailbox.for_marketing ? ['marketing'] : []),
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
    created_at: toIso(mailbox.created_at),
  };
}
