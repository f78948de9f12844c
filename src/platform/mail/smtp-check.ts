/** Tries a relay: connect, TLS, greeting, log-in, a sender. Sends no mail, never throws. */
import { monotonicMs } from '../host/clock.ts';
import { STRANGER } from './smtp-replies.ts';
import { openSession, type SessionTerms, SmtpSession } from './smtp-session.ts';
import type { DeliveryStage, RelayCheck, SmtpRoute, UnsentOutcome } from './types.ts';

/** Within `check_ms` of the deadlines. `from` is the envelope sender. */
export async function checkRelay(route: SmtpRoute, from: string, terms: SessionTerms): Promise<RelayCheck> {
  const { deadlines, lookup } = terms;
  const ends_ms = monotonicMs() + deadlines.check_ms;
  const left = () => Math.max(1, ends_ms - monotonicMs());
  const session = await openSession(route, { lookup, deadlines: { ...deadlines, total_ms: left() } });
  if (!(session instanceof SmtpSession)) return readable(session, route);
  const { smtp_code, words } = await session.askSender(from, left());
  session.quit();
  const is_taken = smtp_code !== null && smtp_code < 300;
  return { stage: is_taken ? null : 'sender', smtp_code, words: withoutSecrets(words, route) };
}

const STAGES: Partial<Record<DeliveryStage, RelayCheck['stage']>> = {
  connect: 'connect',
  tls: 'tls',
  greeting: 'greeting',
  auth: 'login',
};

/** What answers without 220 may be no mail server, and none of what it says is shown. */
function readable(outcome: UnsentOutcome, route: SmtpRoute): RelayCheck {
  const { stage, smtp_code, response, is_stranger } = outcome;
  if (is_stranger) return { stage: 'greeting', smtp_code: null, words: STRANGER };
  return { stage: STAGES[stage] ?? 'connect', smtp_code, words: withoutSecrets(response, route) };
}

/** Relays repeat what they were told, in the form in which it reached them. */
function withoutSecrets(words: string, { username, password }: SmtpRoute): string {
  if (password === null) return words;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const forms = [
    password,
    base64(password),
    base64(`\0${username}\0${password}`),
    encodeURIComponent(password),
  ];
  return forms.reduce((text, form) => text.replaceAll(form, '***'), words);
}
