/** One visitor's whole way through the compiled binary: form, confirmation, mails of a sequence, an event, a click, and leaving. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { systemClock, toIso } from '../../src/platform/host/clock.ts';
import { BROWSER, linksOf } from '../marketing/mails/setup.ts';
import { startSequenceApp } from '../marketing/sequences/setup.ts';
import { openChromium } from '../support/chromium.ts';
import { atEnd } from '../support/cleanup.ts';
import { signUpForm } from '../support/documents.ts';
import { actor } from '../support/helpers.ts';
import { part } from '../support/parts.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { TestClock } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { startServer } from './binary.ts';

const executable = part('chromium');
setDefaultTimeout(120_000);
const FORM = signUpForm();
const VISITOR = 'visitor@example.com';

/** Each step but the first waits an hour, until the test takes that away. */
const STEPS = [
  { key: 'welcome', template: 'plain', condition: { type: 'always' } },
  { key: 'tried', template: 'plain', condition: { type: 'event', event: 'tried', else: 'exit' } },
  { key: 'clicked', template: 'plain', condition: { type: 'clicked', else: 'exit' } },
  { key: 'bye', template: 'plain', is_final: true },
].map((step, n) => ({ ...step, delay_hours: Math.min(n, 1), variables: { step: step.key } }));

async function prepare(sink: SmtpSink, site: string) {
  const on = await startSequenceApp({ clock: new TestClock(toIso(systemClock.now())) });
  const { services } = on.app;
  await services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  const template_key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  const confirm = {
    name: 'C',
    slug: 'c',
    category: 'opt_in',
    subject: 'Confirm',
    body_text: '{{confirm_url}}',
  };
  await on.app.call('POST', '/api/v1/emails/templates', { key: template_key, body: confirm });
  const body_html =
    '<p><a href="https://shop.example.com/a">a</a> <a href="https://shop.example.com/b">b</a></p>';
  await on.template('plain', { subject: '{{step}} for {{first_name}}', body_html });
  const list = await on.list({
    ...{ double_opt_in: true, confirmation_template: 'c', token_hosts: ['shop.example.com'] },
  });
  const sequence = await on.active(list, STEPS, { auto_enroll_new_contacts: true });
  const form_key = await services.keys.create(actor, services.projects.require('shop'), {
    ...{ name: 'form', can_manage_email_marketing: true, restricted: true },
  });
  await services.origins.add(actor, services.keys.require(String(form_key.id)), {
    type: 'domain',
    value: site,
  });
  await on.app.stop();
  const form = FORM.replace('LIST_ID', list).replace('FORM_KEY', form_key.plaintext_key);
  return { data_dir: on.app.data_dir, key: on.key, dns: on.dns.address, list, sequence, form };
}

test.skipIf(executable === null)(
  'a visitor signs up, confirms, gets what fits what they do, and nothing more once they left',
  async () => {
    const sink = await startSmtpSink();
    let page_html = '';
    const site = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: () => new Response(page_html, { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
    });
    atEnd(() => Promise.all([site.stop(true), sink.stop()]));
    const site_url = `http://localhost:${site.port}`;
    const { data_dir, key, dns, list, sequence, form } = await prepare(sink, site_url);
    const server = await startServer(data_dir, { SATCHEL_DNS_SERVERS: dns });
    page_html = `<!doctype html><title>A shop</title>${form.replace('http://localhost:8420', server.url)}`;
    /** A link of a mail, at the port that the server got. */
    const here = (link: string): string => server.url + new URL(link).pathname;
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${server.url}/api/v1${path}`, {
        ...{ method, headers: { 'X-API-Key': key } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: answer.status,
        data: ((await answer.json()) as { data: Record<string, unknown> }).data,
      };
    };
    const mailOf = async (n: number): Promise<Email> =>
      PostalMime.parse((await sink.waitForMails(n))[n - 1]?.raw ?? '');
    const release = (...keys: string[]) =>
      call('PATCH', `/email-sequences/${sequence}`, {
        steps: STEPS.map((step) => (keys.includes(step.key) ? { ...step, delay_hours: 0 } : step)),
      });

    const browser = await openChromium();
    const page = await browser.newPage();
    await page.goto(site_url);
    await page.fill('[name=email]', VISITOR);
    await page.fill('[name=first_name]', 'Vic');
    await page.click('button');
    const confirmation = await mailOf(1);
    await page.goto(here(/http\S+\/confirm\/[\w-]+/.exec(confirmation.text ?? '')?.[0] ?? ''));
    await page.click('button');
    await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();
    expect((await mailOf(2)).subject).toBe('welcome for Vic');

    const event = { email: VISITOR, list, event: 'tried' };
    expect((await call('POST', '/email-contacts/events', event)).status).toBe(201);
    expect((await release('tried')).status).toBe(200);
    const second = await mailOf(3);
    expect(second.subject).toBe('tried for Vic');

    const [link = ''] = linksOf(second.html);
    const followed = await fetch(here(link), { redirect: 'manual', headers: { 'User-Agent': BROWSER } });
    expect(followed.headers.get('location')).toMatch(/^https:\/\/shop\.example\.com\/a\?contact_token=\w+/);
    // A click counts once it can no longer be one of a scanner's burst.
    const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
    await until(
      () => db.query('SELECT 1 FROM sequence_mails WHERE clicked_at IS NOT NULL').all().length === 1,
    );
    db.close();
    await release('tried', 'clicked');
    const third = await mailOf(4);
    expect(third.subject).toBe('clicked for Vic');

    const headers = new Map(third.headers.map(({ key: name, value }) => [name, value]));
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const unsubscribe = here(/<(http[^>]+)>/.exec(headers.get('list-unsubscribe') ?? '')?.[1] ?? '');
    const left = await fetch(unsubscribe, {
      ...{ method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) },
    });
    expect(left.status).toBe(200);
    const { data } = await call('GET', `/email-lists/${list}/contacts?q=${VISITOR}`);
    expect(data).toMatchObject([
      { status: 'unsubscribed', consent_basis: 'double_opt_in', first_name: 'Vic' },
    ]);

    // The last step would be due for the visitor too; somebody else gets it.
    await release('tried', 'clicked', 'bye');
    const other = await call('POST', `/email-lists/${list}/contacts`, { email: 'other@example.com' });
    expect(other.status).toBe(201);
    const welcome = await mailOf(5);
    expect([welcome.to?.[0]?.address, welcome.subject]).toEqual(['other@example.com', 'welcome for there']);
    await call('POST', `/email-sequences/${sequence}/steps/bye/test`, { to: 'admin@example.com' });
    expect((await mailOf(6)).subject).toBe('[Test] bye for there');
    const enrollments = () => call('GET', `/email-sequences/${sequence}/enrollments?per_page=50`);
    await until(async () => !JSON.stringify(await enrollments()).includes('"state":"active"'));
    expect((await enrollments()).data).toMatchObject([
      { email: 'other@example.com', state: 'exited', exit_reason: 'condition' },
      { email: VISITOR, state: 'exited', exit_reason: 'unsubscribed', step: 'bye' },
    ]);
    expect(sink.mails.filter(({ envelope }) => envelope.to.includes(VISITOR))).toHaveLength(4);
    expect(await server.end('SIGTERM')).toBe(0);
  },
);
