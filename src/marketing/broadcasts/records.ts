/** Broadcasts, and who had their turn in one, as answers show them. Pure functions. */
import { DAY_MS, HOUR_MS, toIso } from '../../platform/host/clock.ts';
import { present } from '../../platform/http/fields.ts';
import { mailNumbersOf } from '../campaign-schemas.ts';
import type { ContactRow } from '../contacts/service.ts';
import { presentAb, variantGot } from './ab.ts';
import {
  type BroadcastRecord,
  FIELDS,
  type LeftOut,
  type LinkRecord,
  type RecipientRecord,
  type TimelinePoint,
} from './schemas.ts';
import type { listCounts, listHours, listLinkCounts } from './store.ts';
import {
  type BroadcastRow,
  LEFT_OUT_REASONS,
  type LeftOutReason,
  type RecipientRow,
  type VariantRow,
} from './tables.ts';

type Count = ReturnType<typeof listCounts>[number];

/** The counter of those who were left out for a reason. */
export function countOfReason(reason: LeftOutReason): string {
  return `left_out:${reason}`;
}

export function leftOutOf(numberOf: (reason: LeftOutReason) => number): LeftOut {
  const found = LEFT_OUT_REASONS.map((reason) => [reason, numberOf(reason)]);
  const by_reason = Object.fromEntries(found) as Record<LeftOutReason, number>; // It has no others.
  return { total: Object.values(by_reason).reduce((sum, n) => sum + n, 0), by_reason };
}

/** Why somebody was left out, behind "nothing, ". */
export const WORDS_OF_REASON = {
  unsubscribed: 'as it had unsubscribed',
  suppressed: 'as it was suppressed',
  bounced: 'as a mail to it had come back for good',
  complained: 'as it had complained',
  pending: 'as it had not confirmed its sign-up',
  paused: 'as it had paused the mail it gets',
  filter: 'as the filter did not fit it',
  no_value: 'as a merge field of the mail had no value for it',
} as const satisfies Record<LeftOutReason, string>;

/** A broadcast with its numbers; what a test key sent counts nowhere. */
export function presentBroadcast(
  row: BroadcastRow,
  of: {
    list: string;
    pause_words: string | null;
    segment: string | null;
    filter_sentence: string | null;
    variants: readonly VariantRow[];
    counts: readonly Count[];
    links: LinkRecord[];
  },
): BroadcastRecord {
  const numberOf = (what: string): number => of.counts.find((count) => count.what === what)?.n ?? 0;
  const statOf = (what: string): number => (row.is_test ? 0 : numberOf(what));
  return present(FIELDS, {
    ...row,
    id: row.public_id,
    list: of.list,
    pause_words: of.pause_words,
    segment: of.segment,
    filter_sentence: of.filter_sentence,
    ab: presentAb(row, of.variants),
    left_out: leftOutOf((reason) => numberOf(countOfReason(reason))),
    stats: { to_come: row.finished_at === null ? statOf('to_come') : 0, ...mailNumbersOf(statOf) },
    links: of.links,
  });
}

/** The links of a broadcast's mail with who followed them; those of the same address as one. */
export function presentLinks(
  found: readonly { position: number; url: string }[],
  counts: readonly ReturnType<typeof listLinkCounts>[number][],
): LinkRecord[] {
  return found.map(({ position, url }) => {
    const counted = counts.find((count) => count.position === position);
    return { url, people: counted?.people ?? 0, clicks: counted?.clicks ?? 0 };
  });
}

/** Somebody who had their turn; `log` is what the log says of the mail, and the contact is gone where there is none. */
export function presentRecipient(
  row: RecipientRow,
  {
    broadcast,
    contact,
    log,
  }: {
    broadcast: BroadcastRow;
    contact: ContactRow | undefined;
    log: { status: string; error: string | null } | undefined;
  },
): RecipientRecord {
  return {
    contact_id: contact?.public_id ?? '',
    email: contact?.email ?? '',
    email_id: row.email_id,
    status: row.reason === null ? (log?.status ?? statusOf(row)) : 'left_out',
    reason: row.reason ?? log?.error ?? null,
    clicked_at: toIso(row.clicked_at),
    variant: variantGot(broadcast, row),
  };
}

/** What the log said of a mail that it has forgotten. */
export function statusOf(row: RecipientRow): string {
  if (row.complained_at !== null) return 'complained';
  if (row.bounced_at !== null) return 'bounced';
  if (row.sent_at !== null) return 'sent';
  if (row.is_waiting) return 'queued';
  return row.ended_at === null ? 'canceled' : 'failed';
}

/** Hours after which a timeline goes on by days. */
const TIMELINE_HOURS = 48;

/** What happened by the hour for two days, then by the day (UTC), up to the last of it. */
export function timelineOf(
  { started_at, is_test }: Pick<BroadcastRow, 'started_at' | 'is_test'>,
  hours: readonly ReturnType<typeof listHours>[number][],
): TimelinePoint[] {
  const last = hours.at(-1);
  if (started_at === null || !last || is_test) return [];
  const first_ms = Math.min(started_at - (started_at % HOUR_MS), (hours[0]?.hour ?? 0) * HOUR_MS);
  const days_from_ms = first_ms + TIMELINE_HOURS * HOUR_MS;
  const points = new Map<number, TimelinePoint>();
  const startOf = (at_ms: number): number =>
    at_ms < days_from_ms ? at_ms : Math.max(days_from_ms, at_ms - (at_ms % DAY_MS));
  for (let at_ms = first_ms; at_ms <= last.hour * HOUR_MS; ) {
    const unit = at_ms < days_from_ms ? 'hour' : 'day';
    points.set(at_ms, { at: toIso(at_ms), unit, sent: 0, clicked: 0, opened: 0, opened_by_machine: 0 });
    at_ms = unit === 'hour' ? at_ms + HOUR_MS : at_ms - (at_ms % DAY_MS) + DAY_MS;
  }
  for (const { hour, what, n } of hours) {
    const point = points.get(startOf(hour * HOUR_MS));
    if (point) point[what] += n;
  }
  return [...points.values()];
}
