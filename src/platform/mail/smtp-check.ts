/** Tries a relay: connect, TLS, greeting, log-in, a sender. Sends no mail, never throws. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { monotonicMs } from '../host/clock.ts';
import { within } from '../host/waiting.ts';
import { createResolver } from './dns.ts';
import { whyUnanswered } from './relay-name.ts';
import { isLinkLocal, LINK_LOCAL } from './server-address.ts';
import { openSession, SmtpSession } from './smtp-session.ts';
import type { DeliveryStage, RelayCheck, SmtpDeadlines, SmtpRoute, UnsentOutcome } from './types.ts';

const resolver = createResolver({ servers: [] });

/** Within `check_ms` of the deadlines. `from` is the envelope sender. */
export async function checkRelay(
  route: SmtpRoute,
  from: string,
  deadlines: SmtpDeadlines,
): Promise<RelayCheck> {
  const ends_ms = monotonicMs() + deadlines.check_ms;
  const left = () => Math.max(1, ends_ms - monotonicMs());
  const { address } = route;
  const found = address === undefined ? await addressOf(route.host, left()) : { address };
  if ('words' in found) return { stage: 'connect', smtp_code: null, ...found };
  const session = await openSession({ ...route, ...found }, { ...deadlines, total_ms: left() });
  if (!(session instanceof SmtpSession)) return readable(session, route);
  const { smtp_code, words } = await session.askSender(from, left());
  session.quit();
  const is_taken = smtp_code !== null && smtp_code < 300;
  return { stage: is_taken ? null : 'sender', smtp_code, words: withoutSecrets(words, route) };
}

/** The address to connect to, which no later answer of the DNS changes. */
async function addressOf(host: string, limit_ms: number): Promise<{ address: string } | { words: string }> {
  const unanswered = await whyUnanswered(host, { resolver });
  if (unanswered !== null) return { words: unanswered };
  const asking = isIP(host) === 0 ? lookup(host).catch((error: Error) => error) : { address: host };
  const found = await within(Promise.resolve(asking), limit_ms);
  if (found === 'not yet') return { words: "The server's name could not be looked up in time." };
  if (found instanceof Error) return { words: `There is no server named ${host}.` };
  const { address } = found;
  return isLinkLocal(address) ? { words: `The server ${LINK_LOCAL}.` } : { address };
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
  if (is_stranger)
    return {
      stage: 'greeting',
      smtp_code: null,
      words: 'What answers there does not greet as a mail server that takes mail.',
    };
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
