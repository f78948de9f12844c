/** The story of a mail along the time: accepted, each attempt with its relay's words, what was reported, what comes next. */
import type { EmailEvent, EmailStory } from '../../api.generated.ts';
import { Time, WithTimes } from '../../components/time.tsx';

type Tone = 'good' | 'warn' | 'bad' | 'neutral';

const ATTEMPTS: Readonly<Record<string, readonly [title: string, tone: Tone]>> = {
  sent: ['Taken by the relay', 'good'],
  captured: ['Captured instead of sent', 'good'],
  refused: ['Refused by the relay', 'bad'],
  deferred: ['Deferred by the relay', 'warn'],
  unreachable: ['The relay could not be used', 'bad'],
  unanswered: ['No answer from the relay, which may have taken it', 'warn'],
  postponed: ['Put off; it counts as no attempt', 'warn'],
  interrupted: ['Cut off by a crash or a stop', 'warn'],
};
const REPORTS: Readonly<Record<string, readonly [title: string, tone: Tone]>> = {
  delivered: ['Delivered', 'good'],
  bounced: ['Returned for good', 'bad'],
  soft_bounced: ['Returned, for a reason that may pass', 'warn'],
  refused: ['Not taken, because of the mailbox it came from', 'bad'],
  complained: ['Complained about', 'warn'],
};
const SOURCES: Readonly<Record<EmailStory['source'], string>> = {
  api: 'Accepted',
  schedule: 'Accepted for a run of a schedule',
  sequence: 'Accepted for a step of a sequence',
  broadcast: 'Accepted for a broadcast',
  confirmation: 'Accepted, to confirm a sign-up',
  test: 'Accepted as a test of a sequence step or of a broadcast',
  smtp: 'Accepted by SMTP',
  resend: "Accepted by Resend's API",
  mailgun: "Accepted by Mailgun's API",
};

export function Timeline({ email }: { email: EmailStory }) {
  // The last line of the story says what comes next; what the command line would do, the page has a button for.
  const next = email.story
    .at(-1)
    ?.replace(/^Next: /, '')
    .replace(/ To try again: .*$/, '');
  return (
    <ol class="timeline">
      {email.events.map((event, index) => (
        <Event key={index} event={event} source={email.source} />
      ))}
      {email.error && (
        <li class="bad">
          <p class="timeline-title">Outcome</p>
          <p>{email.error}</p>
        </li>
      )}
      {next && (
        <li class="next">
          <p class="timeline-title">Next</p>
          <p>
            <WithTimes text={capital(next)} />
          </p>
        </li>
      )}
    </ol>
  );
}

function Event({ event, source }: { event: EmailEvent; source: EmailStory['source'] }) {
  const [title, tone] = titleOf(event, source);
  const { kind, who, tls, words, note } = event;
  const is_attempt = kind === 'attempt';
  return (
    <li class={tone}>
      <p class="timeline-title">
        {title} <Time at={event.at} exact />
      </p>
      {is_attempt && who && (
        <p class="muted">
          From {who}
          {tls && (tls === 'none' ? ', without TLS' : `, over ${tls}`)}
        </p>
      )}
      {words && <p class="timeline-words">{words}</p>}
      {note && <p class="muted fine">{note}</p>}
    </li>
  );
}

function titleOf(event: EmailEvent, source: EmailStory['source']): readonly [string, Tone] {
  const { kind, who, outcome } = event;
  if (kind === 'accepted') return [SOURCES[source] + (who ? ` with the key ${who}` : ''), 'neutral'];
  if (kind === 'queued_again') return [`Queued again${who ? ` by ${who}` : ''}`, 'neutral'];
  if (kind === 'opened') return ['Opened for the first time', 'good'];
  if (kind === 'clicked') return ['A link followed for the first time', 'good'];
  if (kind === 'reply')
    return [
      `${outcome === 'automatic' ? 'Answered by a machine' : 'Answered'}${who ? `: ${who}` : ''}`,
      outcome === 'automatic' ? 'neutral' : 'good',
    ];
  if (kind === 'report') {
    const [title, tone] = REPORTS[outcome ?? ''] ?? ['Reported', 'neutral'];
    return [`${title}${who ? `: ${who}` : ''}`, tone];
  }
  if (who === null) return ['No mailbox to go out from', 'warn'];
  return outcome === null
    ? ['An attempt is under way', 'neutral']
    : (ATTEMPTS[outcome] ?? [outcome, 'neutral']);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
