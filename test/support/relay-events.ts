/** Events as providers of relays send them, about a test's own mail: `relay-events/` holds them with marks. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventProvider } from '../../src/mail/relay-events/service.ts';

/** What an event makes of its mail. */
export type Means =
  | 'bounced'
  | 'soft_bounced'
  | 'refused'
  | 'complained'
  | 'delivered'
  | 'unsubscribed'
  | 'nothing';

export interface Sample {
  case: string;
  means: Means;
  event: unknown;
}

export function samplesOf(provider: EventProvider): Sample[] {
  return JSON.parse(readFileSync(join(import.meta.dir, 'relay-events', `${provider}.json`), 'utf8'));
}

/** The mail that an event is to be about. */
export interface ToldMail {
  to: string;
  code: string;
  message_id: string;
  subject: string;
  answer_id: string;
  at: number;
}

const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const mailgun_key = 'key-of-mailgun';
const svix = Buffer.from('a secret of thirty-two characters');

/** Those that are given to `--key`. */
export const KEYS: Partial<Record<EventProvider, string>> = {
  sendgrid: ec.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  mailgun: mailgun_key,
  resend: `whsec_${svix.toString('base64')}`,
};

/** The event with its marks replaced. */
export function fill(event: unknown, mail: ToldMail): unknown {
  const timestamp = String(Math.floor(mail.at / 1000));
  const token = crypto.randomUUID();
  const signature = createHmac('sha256', mailgun_key).update(`${timestamp}${token}`).digest('hex');
  const texts: Record<string, string> = {
    CODE: mail.code,
    TO: mail.to,
    MESSAGE_ID: mail.message_id,
    MESSAGE_ID_BARE: mail.message_id.slice(1, -1),
    SUBJECT: mail.subject,
    EMAIL_ID: mail.answer_id,
    TIME_ISO: new Date(mail.at).toISOString(),
    TIME_TEXT: timestamp,
    NONCE: token,
    SIGNATURE: signature,
  };
  return JSON.parse(
    JSON.stringify(event)
      .replaceAll('"@TIME_S@"', timestamp)
      .replaceAll('"@TIME_MS@"', String(mail.at))
      .replace(/@([A-Z_]+)@/g, (_, name: string) => texts[name] ?? ''),
  );
}

/** What signs a body of these providers, where their events stand in headers. */
export function signed(provider: EventProvider, body: string): Record<string, string> {
  if (provider === 'sendgrid') {
    const timestamp = '1600112502';
    const signature = sign('sha256', Buffer.from(timestamp + body), ec.privateKey).toString('base64');
    const name = 'X-Twilio-Email-Event-Webhook';
    return { [`${name}-Signature`]: signature, [`${name}-Timestamp`]: timestamp };
  }
  if (provider !== 'resend') return {};
  const id = 'msg_1';
  const hmac = createHmac('sha256', svix).update(`${id}.1600112502.${body}`).digest('base64');
  return { 'svix-id': id, 'svix-timestamp': '1600112502', 'svix-signature': `v1,AAAA v1,${hmac}` };
}
