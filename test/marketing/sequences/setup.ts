/** A Satchel that may run sequences: published DNS records, marketing templates, settings, a mailbox that captures. */
import { actor, type TestAppOptions } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

const DOMAIN = 'news.example.com';

export interface SequenceApp extends MarketingApp {
  /** Creates a marketing template with the layout. */
  template(slug: string, fields?: Record<string, unknown>): Promise<void>;
  /** Changes a template. */
  setTemplate(slug: string, changes: Record<string, unknown>): Promise<void>;
  /** Creates a sequence as a draft and returns its id. */
  draft(list: string, steps: unknown[], fields?: Record<string, unknown>): Promise<string>;
  /** As `draft`, activated. */
  active(list: string, steps: unknown[], fields?: Record<string, unknown>): Promise<string>;
  enroll(sequence: string, body?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Runs all that is due, moving the clock first. */
  pass(hours?: number): Promise<void>;
  /** Subjects of what an address was sent, oldest first. */
  got(email: string): Promise<string[]>;
  /** The one enrollment of an address. */
  enrollment(sequence: string, email: string): Promise<Record<string, unknown> | undefined>;
}

export async function startSequenceApp(options: TestAppOptions = {}): Promise<SequenceApp> {
  const on = await startMarketingApp(options);
  const { app, call } = on;
  const { sending_domains, mailboxes } = app.services;
  await sending_domains.add(actor, { name: DOMAIN, is_default: true, is_trusted: true });
  await mailboxes.add(actor, {
    ...{ address: `hello@${DOMAIN}`, relay: null, daily_limit: null, return_path: null },
    ...{ for_transactional: true, for_marketing: true },
  });
  const { records } = await sending_domains.verify(actor, DOMAIN);
  for (const { name, value } of records) on.dns.set(name, { txt: [value] });
  await call('PATCH', '/email-marketing/settings', {
    ...{ enabled: true, from_name: 'Shop', postal_address: '1 High Street, Springfield' },
  });
  const template_key = await on.project.key({
    ...{ can_read: true, can_write: true, can_manage_email_marketing: true },
    permissions: { email_template: true },
  });
  const made: SequenceApp = {
    ...on,
    async template(slug, fields = {}) {
      const answer = await app.call('POST', '/api/v1/emails/templates', {
        key: template_key,
        body: {
          ...{ name: slug, slug, category: 'marketing', is_marketing: true, layout: 'marketing' },
          ...{
            subject: `${slug} for {{first_name}}`,
            body_text: `Text of ${slug}`,
            body_html: `<p>${slug}</p>`,
          },
          ...fields,
        },
      });
      if (answer.status !== 201) throw new Error(answer.text);
    },
    async setTemplate(slug, changes) {
      const answer = await app.call('PATCH', `/api/v1/emails/templates/${slug}`, {
        key: template_key,
        body: changes,
      });
      if (answer.status !== 200) throw new Error(answer.text);
    },
    async draft(list, steps, fields = {}) {
      const body = { name: 'Welcome', list, max_recipients: 1_000, steps, ...fields };
      return String(dataOf(await call('POST', '/email-sequences', body), 201).id);
    },
    async active(list, steps, fields = {}) {
      const id = await made.draft(list, steps, fields);
      dataOf(await call('POST', `/email-sequences/${id}/activate`));
      return id;
    },
    enroll: async (sequence, body = { all: true }) =>
      dataOf(await call('POST', `/email-sequences/${sequence}/enroll`, body)),
    async pass(hours = 0) {
      app.clock.advance(hours * 3_600_000);
      app.app.engine.wake();
      await app.app.engine.whenIdle();
    },
    async got(email) {
      const { body } = await app.call('GET', `/api/v1/emails?to=${email}&per_page=50`, { key: on.key });
      return (body.data as { subject: string }[]).map(({ subject }) => subject).reverse();
    },
    async enrollment(sequence, email) {
      const { body } = await call('GET', `/email-sequences/${sequence}/enrollments?per_page=50`);
      return (body.data as Record<string, unknown>[]).find((one) => one.email === email);
    },
  };
  return made;
}

/**
 * Adds contacts `name0@example.com` to `name<count - 1>` as a large import leaves them, all at once. `custom` says as SQL over
 * `i` what each has of its own.
 */
export async function addContacts(
  on: SequenceApp,
  list: string,
  { name, count, custom = "'{}'" }: { name: string; count: number; custom?: string },
): Promise<void> {
  const model = await on.contact(list, `${name}@example.com`);
  await on.app.services.database.write((tx) => {
    tx.$client.run(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
       INSERT INTO contacts (public_id, project_id, list_id, email, custom, status, contact_token, consent_basis,
         consent_at, source_platform, status_changed_at, created_at, updated_at)
       SELECT printf('%s%02d%05d', substr(public_id, 1, 19), list_id, i), project_id, list_id,
         printf('%s%d@example.com', ?2, i), ${custom}, status, printf('%s-%d', contact_token, i), consent_basis,
         consent_at, source_platform, status_changed_at, created_at, updated_at
       FROM contacts, n WHERE public_id = ?3 ORDER BY i`,
      [count, name, String(model.id)],
    );
    tx.$client.run('DELETE FROM contacts WHERE public_id = ?', [String(model.id)]);
  });
}
