/** What happened to an email as events rather than sentences: for whoever draws it. */
import { toIso } from '../../platform/host/clock.ts';
import { dateTime, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import type { StoryFacts } from './story.ts';
import { NO_MAILBOX } from './tables.ts';

const words = (description: string) => ({ ...nullable(t.String()), description });

export const emailEvent = named(
  'EmailEvent',
  t.Object({
    at: dateTime(),
    kind: oneOf(['accepted', 'attempt', 'queued_again', 'report', 'opened', 'clicked']),
    outcome: words(
      'Of an attempt: `sent`, `captured`, `refused`, `deferred`, `unreachable`, `interrupted`, null while it is under way; of a ' +
        'report: `delivered`, `bounced`, `soft_bounced`, `refused` (because of the mailbox it came from), `complained`.',
    ),
    who: words(
      'The key it was accepted with, the mailbox of an attempt, who queued it again, whom a report speaks of.',
    ),
    words: words('What the relay or the report said.'),
    tls: words('Of an attempt: the version, or `none`; null where no connection came about.'),
    note: words('Of an attempt: why this mailbox.'),
  }),
);
type EmailEvent = Static<typeof emailEvent>;

const NOTHING = { outcome: null, who: null, words: null, tls: null, note: null };

/** In the order of time. */
export function timelineOf({ email, attempts, reports, retries, key }: StoryFacts): EmailEvent[] {
  const events: EmailEvent[] = [
    { ...NOTHING, kind: 'accepted', at: toIso(email.created_at), who: key },
    ...retries.map((retry) => ({
      ...NOTHING,
      kind: 'queued_again' as const,
      at: toIso(retry.at),
      who: retry.actor_name,
    })),
    ...attempts.map((attempt) => ({
      kind: 'attempt' as const,
      at: toIso(attempt.started_at),
      outcome: attempt.outcome,
      who: attempt.mailbox === NO_MAILBOX ? null : attempt.mailbox,
      words: attempt.smtp_response,
      tls: attempt.tls,
      note: attempt.choice,
    })),
    ...reports.map(({ reported_at, kind, address, words }) => ({
      ...NOTHING,
      kind: 'report' as const,
      at: toIso(reported_at),
      outcome: kind,
      who: address,
      words,
    })),
  ];
  if (email.opened_at !== null) events.push({ ...NOTHING, kind: 'opened', at: toIso(email.opened_at) });
  if (email.clicked_at !== null) events.push({ ...NOTHING, kind: 'clicked', at: toIso(email.clicked_at) });
  return events.toSorted((a, b) => a.at.localeCompare(b.at));
}
