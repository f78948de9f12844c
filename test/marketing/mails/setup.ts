/** A Satchel with a marketing mailbox, a list, a contact and a template: what marketing mail is tested with. */
import { expect } from 'bun:test';
import PostalMime, { type Email } from 'postal-mime';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import type { MailContact, Mailing, MailPlan } from '../../../src/marketing/mails/service.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { atEnd } from '../../support/cleanup.ts';
import { type Answer, actor, type TestAppOptions } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type MarketingApp, startMarketingApp } from '../settings/setup.ts';

export const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';

export interface MailApp extends MarketingApp {
  sink: SmtpSink;
  /** The id of a list with token_hosts shop.example.com. */
  list_id: string;
  /** Saves a marketing template `news`, or changes it. */
  template(fields: Record<string, unknown>): Promise<void>;
  settings(fields: Record<string, unknown>): Promise<void>;
  /** What a step of the template `news` is made of. */
  step(fields?: Partial<Mailing>, variables?: Record<string, string>): Mailing;
  contactOf(email: string): MailContact;
  plan(email: string, step?: Mailing): Promise<MailPlan>;
  /** Plans and accepts a mail, lets it go out, and returns its id with what arrived. */
  send(email: string, step?: Mailing): Promise<{ id: string; mail: Email; raw: string }>;
  sendTest(to: string, step?: Mailing): Promise<{ id: string; mail: Email; raw: string }>;
  /** Follows an address of a mail. */
  follow(
    url: string,
    options?: { user_agent?: string | null; method?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  rows(query: string): Record<string, unknown>[];
}

export async function startMailApp(options: TestAppOptions = {}): Promise<MailApp> {
  const base = await startMarketingApp(options);
  const { app, project } = base;
  const sink = await startSmtpSink();
  atEnd(() => sink.stop());
  await app.services.sending_domains.add(actor, {
    name: 'news.example.com',
    is_default: true,
    is_trusted: true,
  });
  await app.services.mailboxes.add(actor, {
    address: 'news@news.example.com',
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    daily_limit: null,
    for_transactional: true,
    for_marketing: true,
    return_path: null,
  });
  const { services } = app;
  const { database, emails, marketing_mail } = services;
  const list_id = await base.list({ token_hosts: ['shop.example.com'] });
  const template_key = await project.key({
    ...{ can_read: true, can_write: true, can_manage_email_marketing: true },
    permissions: { email_template: true },
  });
  let is_saved = false;
  const made: MailApp = {
    ...{ ...base, sink, list_id },
    async template(fields) {
      const [method, path] = is_saved
        ? ['PATCH', '/api/v1/emails/templates/news']
        : ['POST', '/api/v1/emails/templates'];
      const defaults = { name: 'News', slug: 'news', category: 'marketing', is_marketing: true };
      const answer = await app.call(method ?? '', path ?? '', {
        key: template_key,
        body: is_saved ? fields : { ...defaults, subject: 'Hello {{first_name}}', ...fields },
      });
      expect([200, 201]).toContain(answer.status);
      is_saved = true;
    },
    async settings(fields) {
      await marketing.change(Number(project.id), fields, noNote);
    },
    step(fields = {}, variables = {}) {
      const list = services.lists.require(Number(project.id), list_id);
      return {
        owner: { id: Number(project.id), public_id: project.public_id, name: 'shop' },
        list,
        source: 'sequence',
        template: 'news',
        variables,
        preheader: null,
        settings: services.marketing.settings(Number(project.id)),
        ...{ track_opens: false, utm: null, is_test: false, email_tag: 'welcome-1' },
        ...fields,
      };
    },
    contactOf(email) {
      const [contact] = database.read.$client
        .query<Record<string, unknown>, [string]>('SELECT * FROM contacts WHERE email = ?')
        .all(email);
      if (!contact) throw new Error(`no contact ${email}`);
      return { ...contact, custom: JSON.parse(String(contact.custom)) } as unknown as MailContact;
    },
    plan: (email, step = made.step()) =>
      database.write((tx) => marketing_mail.plan(tx, step, made.contactOf(email))),
    send: (email, step = made.step()) =>
      sendPlanned((tx) => marketing_mail.plan(tx, step, made.contactOf(email))),
    sendTest: (to, step = made.step()) => sendPlanned((tx) => marketing_mail.planTest(tx, step, to)),
    follow(url, { user_agent = BROWSER, method = 'GET', headers = {} } = {}) {
      const { pathname, search } = new URL(url);
      const of_agent: Record<string, string> = user_agent === null ? {} : { 'User-Agent': user_agent };
      return app.call(method, pathname + search, { headers: { ...of_agent, ...headers } });
    },
    rows: (query) => database.read.$client.query<Record<string, unknown>, []>(query).all(),
  };
  const { marketing } = services;
  const sendPlanned = async (plan: (tx: Parameters<typeof emails.accept>[0]) => MailPlan) => {
    const id = await database.write((tx) => {
      const planned = plan(tx);
      if (!planned.ok) throw new Error(planned.reason);
      return emails.accept(tx, planned.email).id;
    });
    await app.app.engine.whenIdle();
    const raw = sink.mails.at(-1)?.raw.toString() ?? '';
    return { id, raw, mail: await PostalMime.parse(raw) };
  };
  await made.settings({
    ...{ enabled: true, from_name: 'The Shop', postal_address: 'Shop\n1 High Street' },
    // So that the first link is the template's.
    view_link: false,
  });
  return made;
}

/** The addresses of the links in a mail's HTML, in order. */
export function linksOf(html: string | undefined): string[] {
  return [...(html ?? '').matchAll(/<a\b[^>]*?href="([^"]*)"/gi)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );
}
