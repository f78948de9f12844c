/** A Satchel whose mailboxes hear of events: mail that went out through each, and what is told of it. */
import type { EventProvider } from '../../../src/mail/relay-events/service.ts';
import { type MailApp, startMailApp } from '../../marketing/mails/setup.ts';
import { type Answer, actor, type TestAppOptions } from '../../support/helpers.ts';
import { fill, KEYS, samplesOf, signed, type ToldMail } from '../../support/relay-events.ts';
import { CERTIFICATE_URL, type EnvelopeType, envelope, makeRsaCertificate } from '../../support/sns.ts';

export const NEWS = 'news@news.example.com';

export interface EventsApp extends MailApp {
  /** Has a mailbox hear of a provider, with the key of `KEYS` unless given, and returns the path of its URL. */
  hear(provider: EventProvider, more?: { key?: string | null }): Promise<string>;
  /** Sends a mail to somebody new, who is a contact, and returns what an event may say of it. */
  mail(fields?: Record<string, unknown>): Promise<ToldMail & { id: string }>;
  /** Posts a body to a path, signed as its provider does. */
  post(path: string, provider: EventProvider, body: unknown): Promise<Answer>;
  /** Posts a sample about a mail. */
  tell(path: string, provider: EventProvider, name: string, mail: ToldMail): Promise<Answer>;
  log(id: string): Promise<Record<string, unknown>>;
  /** The kinds of reports of a mail. */
  reportsOf(id: string): unknown[];
  statusOf(to: string): unknown;
  /** What was asked of Amazon, by its path. */
  asked: string[];
  sns(type: EnvelopeType, fields?: Record<string, string>): Record<string, string>;
  /** What is answered in place of Amazon. */
  amazon: { status: number; pem: string };
}

let n = 0;

export async function startEventsApp(options: TestAppOptions = {}): Promise<EventsApp> {
  const on = await startMailApp(options);
  const { services } = on.app;
  const key = await on.project.key({ can_read: true, can_send_emails: true });
  const amazon_key = makeRsaCertificate('sns.amazonaws.com');
  const amazon = { status: 200, pem: amazon_key.cert };
  const asked: string[] = [];
  services.destinations.find = async () => ({ addresses: ['192.0.2.1'], is_inside: false });
  services.sender.sendToFirst = async (_addresses, { message }) => {
    const path = message.split(' ')[1] ?? '';
    asked.push(path);
    const body = path === new URL(CERTIFICATE_URL).pathname ? amazon.pem : '<ConfirmSubscriptionResponse/>';
    return { status: amazon.status, said: { content_type: null, body, is_cut: false }, behind_ms: 0 };
  };
  const sns: EventsApp['sns'] = (type, fields = {}) => envelope(amazon_key.key, type, fields);
  const made: EventsApp = {
    ...{ ...on, asked, amazon, sns },
    async hear(provider, { key = KEYS[provider] } = {}) {
      const events = { provider, ...(key === undefined ? {} : { key }) };
      const { events: record } = await services.mailboxes.change(actor, NEWS, { events });
      return new URL(record?.url ?? '').pathname;
    },
    async mail(fields = {}) {
      n += 1;
      const to = `reader${n}@example.org`;
      await on.contact(on.list_id, to);
      const subject = `Order ${n}`;
      const answer_id = crypto.randomUUID();
      on.sink.behavior = { data: { code: 250, message: `Ok ${answer_id}` } };
      const body = { to, subject, body_text: 'Thanks', ...fields };
      const { body: sent } = await on.app.call('POST', '/api/v1/emails/send', { key, body });
      await on.app.app.engine.whenIdle();
      const raw = String(on.sink.mails.at(-1)?.raw);
      const id = String(sent.id);
      const code = new RegExp(`${id}-[0-9a-f]{20}`, 'i').exec(raw)?.[0] ?? '';
      const message_id = /^Message-ID: (\S+)/im.exec(raw)?.[1] ?? '';
      return { id, to, code, subject: String(body.subject), message_id, answer_id, at: on.app.clock.now() };
    },
    post(path, provider, body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const headers = { 'Content-Type': 'text/plain; charset=UTF-8', ...signed(provider, text) };
      return on.app.call('POST', path, { body: text, headers });
    },
    tell(path, provider, name, mail) {
      const sample = samplesOf(provider).find((each) => each.case === name);
      if (!sample) throw new Error(`no sample ${name}`);
      const event = fill(sample.event, mail);
      const body = provider === 'ses' ? sns('Notification', { Message: JSON.stringify(event) }) : event;
      return made.post(path, provider, body);
    },
    log: async (id) => (await on.app.call('GET', `/api/v1/emails/${id}`, { key })).body,
    reportsOf: (id) =>
      on.rows(`SELECT kind FROM email_reports WHERE email_id = '${id}' ORDER BY id`).map(({ kind }) => kind),
    statusOf: (to) => on.rows(`SELECT status FROM contacts WHERE email = '${to}'`)[0]?.status,
  };
  return made;
}
