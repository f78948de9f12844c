/** Sending domains and mailboxes in the console, in a real browser, and what is in the database after it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { AppError } from '../../src/errors.ts';
import { unsentOutcome } from '../../src/platform/mail/outcomes.ts';
import { actor, makeProject } from '../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn, settle } from './browser.ts';
import { HOSTILE } from './sample-data.ts';

let on: ConsoleTest;

beforeAllInConsole((started) => {
  on = started;
});

const open = async (path: string) => openSignedIn(on, path);
/** The part of the page, not Satchel's own settings. */
const openSettings = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Parts of this page' })
    .getByRole('link', { name: 'Settings' })
    .click();

describe.skipIf(executable === null)('a sending domain', () => {
  test('is added, is verified by what the DNS says, which is shown as the text it is, and gets a new key', async () => {
    const { page, complaints } = await open('/sending-domains/new');
    await page.getByLabel('Domain').fill('not a domain');
    await page.getByRole('button', { name: 'Add the domain' }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    expect(on.app.services.sending_domains.list()).toEqual([]);
    await page.getByLabel('Domain').fill('Mail.Example.com');
    await page.getByRole('button', { name: 'Add the domain' }).click();
    await page.getByRole('heading', { name: 'mail.example.com', level: 1 }).waitFor();

    const { records } = on.app.services.sending_domains.show('mail.example.com');
    const [ownership, spf, dkim] = records;
    if (!ownership || !spf || !dkim) throw new Error('no records');
    on.dns.set(ownership.name, { txt: [ownership.value] });
    on.dns.set(spf.name, { txt: [`v=spf1 ${HOSTILE}`] });
    await page.getByRole('button', { name: 'Look the records up' }).click();
    await page.getByText('The domain is not verified.').waitFor();
    const part = (name: string) => page.getByRole('region', { name, exact: true });
    await part('Ownership').getByText('found', { exact: true }).waitFor();
    await part('SPF').getByText(HOSTILE).waitFor();
    await part('DKIM').getByText('missing', { exact: true }).waitFor();
    expect(on.app.services.sending_domains.get('mail.example.com').is_verified).toBe(false);

    on.dns.set(spf.name, { txt: [spf.value] });
    on.dns.set(dkim.name, { txt: [dkim.value] });
    await page.getByRole('button', { name: 'Look the records up' }).click();
    await page.getByText('The domain is verified.').waitFor();
    expect(on.app.services.sending_domains.get('mail.example.com').is_verified).toBe(true);

    await openSettings(page);
    await page.getByText('Signing key', { exact: true }).click();
    await page.getByRole('button', { name: 'Make a new key' }).click();
    await page.getByRole('button', { name: 'Look for the new record' }).click();
    await page.getByText('The new record is not seen yet').waitFor();
    const rotation = on.app.services.sending_domains.show('mail.example.com').dkim_rotation;
    expect(rotation?.state).toBe('waiting');
    on.dns.set(rotation?.record.name ?? '', { txt: [rotation?.record.value ?? ''] });
    await page.getByRole('button', { name: 'Look for the new record' }).click();
    await page.getByText('Mail is signed with the new key').waitFor();
    expect(on.app.services.sending_domains.get('mail.example.com').dkim_selector).toBe('satchel2');
    // The one refusal is told by the browser, too; nothing else is.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('is trusted and taken out of use, but not over what somebody else has changed meanwhile; and removed by its name', async () => {
    const { sending_domains, mailboxes } = on.app.services;
    await sending_domains.add(actor, { name: 'shop.example.com' });
    await mailboxes.add(actor, { address: 'hello@shop.example.com', relay: null });
    const { page, complaints } = await open('/sending-domains/shop.example.com?tab=settings');
    await page.getByRole('button', { name: 'Trust it' }).click();
    await page.getByText('It is trusted').waitFor();
    expect(sending_domains.get('shop.example.com').is_trusted).toBe(true);
    await sending_domains.change(actor, 'shop.example.com', { is_default: true });
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.locator('.toast.bad').waitFor();
    expect(sending_domains.get('shop.example.com')).toMatchObject({ is_active: true, is_default: true });

    await page.getByRole('button', { name: 'Remove the domain' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('its DKIM key and 1 mailbox').waitFor();
    await page.getByLabel('Type shop.example.com to go on').fill('shop.example.com');
    await dialog.getByRole('button', { name: 'Remove the domain' }).click();
    await page.getByRole('heading', { name: 'Sending domains', level: 1 }).waitFor();
    expect(() => sending_domains.get('shop.example.com')).toThrow(AppError);
    expect(mailboxes.list()).toEqual([]);
    expect(complaints.filter((told) => !told.includes('409'))).toEqual([]);
  });
});

describe.skipIf(executable === null)('a mailbox that captures', () => {
  test('says why nothing goes out from it, as a mail that is refused does, in sight; once its domain is trusted the mail goes out', async () => {
    const { sending_domains, mailboxes, database } = on.app.services;
    await makeProject(on.app, 'shop');
    await sending_domains.add(actor, { name: 'kept.example.com' });
    const { page } = await open('/mailboxes/new');
    await page.getByLabel('Address').fill('shop@kept.example.com');
    await page.getByLabel('Kept here').check();
    await page.getByRole('button', { name: 'Add the mailbox' }).click();
    await page.getByText('its domain is not verified').waitFor();
    await page.getByText('shop@kept.example.com is added', { exact: true }).waitFor();

    const { page: writing } = await open('/projects/shop/emails/new');
    await writing.setViewportSize({ width: 1280, height: 500 });
    await writing.getByLabel('To', { exact: true }).fill('bob@example.org');
    await writing.getByLabel('Subject').fill('Hello');
    await writing.getByLabel('Text', { exact: true }).fill('Hi!');
    await writing.getByRole('button', { name: 'Send', exact: true }).click();
    const refusal = writing.getByText('1 is of a domain that is not verified');
    await refusal.waitFor();
    const top = (await refusal.boundingBox())?.y ?? 0;
    // Below the bar at the top.
    expect(top).toBeGreaterThan(56);
    expect(top).toBeLessThan(500);
    expect(database.read.$client.query('SELECT id FROM emails').all()).toEqual([]);

    await page.getByRole('link', { name: 'Publish the records' }).click();
    await page.getByRole('heading', { name: 'kept.example.com', level: 1, exact: true }).waitFor();
    await openSettings(page);
    await page.getByRole('button', { name: 'Trust it' }).click();
    await page.getByText('It is trusted').waitFor();
    await writing.getByRole('button', { name: 'Send', exact: true }).click();
    await writing.getByRole('heading', { name: 'Hello', level: 1 }).waitFor();
    await page.goto(`${on.app.url}/console/mailboxes/shop@kept.example.com`);
    await settle(page);
    expect(await page.getByText('Nothing goes out from it').count()).toBe(0);
    await mailboxes.remove(actor, 'shop@kept.example.com');
    await sending_domains.remove(actor, 'kept.example.com');
  });
});

describe.skipIf(executable === null)('a mailbox', () => {
  let sink: SmtpSink;
  beforeAll(async () => {
    sink = await startSmtpSink({ users: { satchel: 'se:same' }, offers_plain_auth: true });
    await on.app.services.sending_domains.add(actor, { name: 'relay.example.com', is_trusted: true });
  });
  afterAll(() => sink?.stop());

  test('is added with its relay, shows what that answers to a test, is changed without its password, paused and removed', async () => {
    const { mailboxes } = on.app.services;
    const { page, complaints } = await open('/mailboxes/new');
    await page.getByLabel('Address').fill('hello@relay.example.com');
    await page.getByLabel('Provider', { exact: true }).selectOption('ses');
    expect(await page.getByLabel('Host', { exact: true }).inputValue()).toBe(
      'email-smtp.REGION.amazonaws.com',
    );
    await page.getByLabel('Host', { exact: true }).fill('ftp://elsewhere.example.com');
    await page.getByLabel('User', { exact: true }).fill('satchel');
    await page.getByLabel('Password', { exact: true }).fill('se:same');
    const attempt = page.getByRole('button', { name: 'Try it and save' });
    await attempt.click();
    await page.getByText('Must be a host name or an address.').waitFor();
    expect(await page.getByLabel('Host', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(mailboxes.list()).toEqual([]);
    await page.getByLabel('Host', { exact: true }).fill('127.0.0.1');
    await page.getByText('Port and encryption').click();
    await page.getByLabel('Port', { exact: true }).fill(String(sink.port));
    await page.getByLabel('Encryption', { exact: true }).selectOption('starttls');
    const typed = page.getByLabel('Password', { exact: true });
    const look = (name = 'relay.password') =>
      page.evaluate(`getComputedStyle(document.querySelector('[name="${name}"]')).webkitTextSecurity`);
    expect(await look()).toBe('disc');
    await page.getByRole('button', { name: 'Show what is typed' }).first().click();
    expect([await look(), await typed.inputValue()]).toEqual(['none', 'se:same']);
    // It is tried before it is saved.
    await typed.fill('another');
    await attempt.click();
    await page.getByText('The server did not let us in.').waitFor();
    expect(mailboxes.list()).toEqual([]);
    await typed.fill('se:same');
    // What is wrong in what is folded away opens it.
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('Mails a day').fill('50');
    await page.getByLabel('Rate').fill('often');
    await page.getByText('Advanced', { exact: true }).click();
    await attempt.click();
    await page.locator('[name=rate][aria-invalid=true]').waitFor();
    await page.getByLabel('Rate').fill('14/s');
    await attempt.click();
    await page.getByRole('heading', { name: 'hello@relay.example.com', level: 1 }).waitFor();
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByText('Here, which takes 0.85 ms of the processor a mail').waitFor();
    expect(mailboxes.list()).toMatchObject([
      { daily_limit: 50, rate: '14/s', for: ['transactional'], inbox: null },
    ]);
    expect(await page.content()).not.toMatch(/se(:|%3A)same/);

    await page.getByRole('link', { name: 'Send a test' }).click();
    await page.getByLabel('To', { exact: true }).fill('ann@example.org');
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('The relay took the message to ann@example.org.').waitFor();
    const sent = await sink.waitForMails(1);
    expect(sent.map(({ envelope }) => envelope.to)).toEqual([['ann@example.org']]);
    sink.behavior.rcpt = { 'bob@example.org': { code: 550, message: `5.1.1 ${HOSTILE}` } };
    await page.getByLabel('To', { exact: true }).fill('bob@example.org');
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('did not go out').waitFor();
    await page.getByText(HOSTILE).waitFor();

    await openSettings(page);
    await page.getByLabel('Marketing').check();
    await page.getByLabel('Return path', { exact: true }).fill('bounces@relay.example.com');
    await page.getByLabel('Rate').fill('');
    expect(await page.getByLabel('Host', { exact: true }).inputValue()).toBe('127.0.0.1');
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('');
    await page.getByLabel('Provider of the inbox').selectOption('Fastmail');
    expect(await page.getByLabel('IMAP host').inputValue()).toBe('imap.fastmail.com');
    await page.getByLabel('Provider of the inbox').selectOption('Another one');
    await page.getByLabel('IMAP host').fill('127.0.0.1');
    await page.getByLabel('IMAP user').fill('reader');
    await page.getByLabel('IMAP password').fill('ses@me');
    expect(await look('inbox.password')).toBe('disc');
    await page.getByText('Port and folder').click();
    await page.getByLabel('IMAP port').fill('1');
    await page.getByLabel('IMAP encryption').selectOption('starttls');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    expect(mailboxes.list()).toMatchObject([
      {
        ...{ for: ['transactional', 'marketing'], return_path: 'bounces@relay.example.com' },
        ...{ rate: null, inbox: { address: 'imap://reader:***@127.0.0.1:1' } },
      },
    ]);
    // With another folder its password stays; it goes along to no other host.
    await page.getByLabel('Folder').fill('Bounces');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await until(() => mailboxes.list()[0]?.inbox?.address === 'imap://reader:***@127.0.0.1:1/Bounces');
    expect(on.app.services.inboxes.listRows().map((row) => on.app.services.inboxes.passwordOf(row))).toEqual([
      'ses@me',
    ]);
    await settle(page);
    await page.getByLabel('IMAP host').fill('imap.example.org');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.locator('.wrong', { hasText: 'is required with another host' }).waitFor();
    await page.reload();
    await settle(page);
    // The relay's password is still the one that it was added with.
    expect(await mailboxes.test('hello@relay.example.com', 'ann@example.org')).toMatchObject({
      outcome: 'sent',
    });

    const { id } = mailboxes.require('hello@relay.example.com');
    const now_ms = on.app.clock.now();
    const slowdown = { words: HOSTILE, asked_ms: null, is_quota: true };
    const refused = { ...unsentOutcome({ stage: 'mail', response: HOSTILE, smtp_code: 451 }), slowdown };
    await on.app.services.database.write((tx) =>
      mailboxes.pace.record(tx, id, refused, { started_at: now_ms, now_ms }),
    );
    await page.goto(`${on.app.url}/console/mailboxes/hello@relay.example.com`);
    await page.getByText('Its relay refused some mail').waitFor();
    await page.getByText('It waits until').waitFor();
    await page.getByText(HOSTILE).waitFor();
    await page.getByRole('link', { name: 'State', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('It is paused.').waitFor();
    expect(mailboxes.list()).toMatchObject([{ state: 'paused' }]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('It is paused.').waitFor({ state: 'detached' });
    expect(mailboxes.list()).toMatchObject([{ state: 'active' }]);

    await openSettings(page);
    await page.getByRole('button', { name: 'Remove the mailbox' }).click();
    await page.getByLabel('Type hello@relay.example.com to go on').fill('hello@relay.example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the mailbox' }).click();
    await page.getByRole('heading', { name: 'Mailboxes', level: 1 }).waitFor();
    expect(mailboxes.list()).toEqual([]);
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });
});
