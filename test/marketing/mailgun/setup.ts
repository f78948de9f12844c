/** A Satchel that apps reach by Mailgun's API, and its own client (npm's mailgun.js) as it is. */
import Mailgun from 'mailgun.js';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { atTestEnd } from '../../support/cleanup.ts';
import { actor, type TestAppOptions } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type SequenceApp, startSequenceApp } from '../sequences/setup.ts';

export const DOMAIN = 'news.example.com';
export const FROM = `Shop <mail@${DOMAIN}>`;

export interface MailgunApp extends SequenceApp {
  sink: SmtpSink;
  mailgun_key: string;
  client: ReturnType<typeof clientOf>;
  /** POSTs a form to `/v3/DOMAIN/messages`, or elsewhere below the domain. */
  post(fields: Record<string, string | string[]>, options?: { key?: string; path?: string }): Promise<Told>;
  ask(method: string, path: string, key?: string): Promise<Told>;
  events(query?: string): Promise<Item[]>;
  sql<T>(text: string): T[];
}

export interface Told {
  status: number;
  text: string;
  body: Record<string, unknown>;
  headers: Headers;
}

export interface Item {
  id: string;
  event: string;
  timestamp: number;
  recipient: string;
  severity?: string;
  reason?: string;
  tags: string[];
  'user-variables': Record<string, string>;
  message: { headers: Record<string, string> };
  'delivery-status'?: { code: number; message: string; 'enhanced-code': string };
}

/** As npm has it; Ghost's is of another version. */
export function clientOf(url: string, key: string, Client: typeof Mailgun = Mailgun) {
  return new Client(FormData).client({ username: 'api', key, url });
}

const basic = (key: string): string => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

export async function startMailgunApp(options: TestAppOptions = {}): Promise<MailgunApp> {
  const on = await startSequenceApp(options);
  const sink = await startSmtpSink();
  atTestEnd(() => sink.stop());
  const { mailboxes } = on.app.services;
  await mailboxes.add(actor, {
    ...{ address: `mail@${DOMAIN}`, relay: parseRelay(`smtp://127.0.0.1:${sink.port}`), daily_limit: null },
    ...{ return_path: null, for_transactional: true, for_marketing: true },
  });
  const mailgun_key = await on.project.key({
    ...{ can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true },
  });
  const told = async (request: Request): Promise<Told> => {
    const response = await on.app.app.handle(request);
    const text = await response.text();
    const is_json = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      text,
      body: is_json ? JSON.parse(text) : {},
      headers: response.headers,
    };
  };
  const ask = (method: string, path: string, key = mailgun_key) =>
    told(new Request(`http://satchel.test/v3${path}`, { method, headers: { Authorization: basic(key) } }));
  return {
    ...on,
    sink,
    mailgun_key,
    client: clientOf(on.app.url, mailgun_key),
    ask,
    async post(fields, { key = mailgun_key, path = `/${DOMAIN}/messages` } = {}) {
      const form = new FormData();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) form.append(name, value);
      const encoded = new Response(form);
      const type = encoded.headers.get('content-type') ?? '';
      const body = await encoded.bytes();
      const length = String(body.length);
      const headers = { Authorization: basic(key), 'Content-Type': type, 'Content-Length': length };
      return told(new Request(`http://satchel.test/v3${path}`, { method: 'POST', headers, body }));
    },
    async events(query = 'begin=0') {
      const answer = await ask('GET', `/${DOMAIN}/events?${query}`);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.items as Item[];
    },
    sql: <T>(text: string) => on.app.services.database.read.$client.query(text).all() as T[],
  };
}

/** Fields of bulk mail for these, each with a name. */
export function bulkFor(addresses: readonly string[], fields: Record<string, string | string[]> = {}) {
  const variables = addresses.map((address, n) => [address, { name: `Ann <b>${n}</b>` }]);
  return {
    ...{ from: FROM, to: [...addresses], subject: 'Hello %recipient.name%' },
    ...{ html: '<p>Dear %recipient.name%, %recipient.other%</p>', text: 'Dear %recipient.name%' },
    'recipient-variables': JSON.stringify(Object.fromEntries(variables)),
    ...fields,
  };
}
