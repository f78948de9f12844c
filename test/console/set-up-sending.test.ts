/** Setting up sending by clicking and typing alone, on an empty installation: into a capture, and through a relay. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { atEnd } from '../support/cleanup.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { beforeAllInConsole, type ConsoleTest, executable, expectSound, openSignedIn } from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole((started) => {
  on = started;
});

async function write(page: Page): Promise<void> {
  await page.getByLabel('To', { exact: true }).fill('bob@example.org');
  await page.getByLabel('Subject').fill('Hello Bob');
  await page.getByLabel('Text', { exact: true }).fill('It works.');
}

describe.skipIf(executable === null)('on an empty installation', () => {
  test('the first mail is captured after five clicks, and what was typed before is there when one comes back', async () => {
    const opened = await openSignedIn(on, '/');
    const { page } = opened;
    let clicks = 0;
    const click = async (role: 'link' | 'button', name: string | RegExp): Promise<void> => {
      await page.getByRole(role, { name, exact: typeof name === 'string' }).click();
      clicks += 1;
    };
    await click('link', /^Send mail/);
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await click('button', 'Create the project');
    await page.getByRole('heading', { name: 'Send a mail', level: 1 }).waitFor();
    await write(page);
    await click('link', 'Set up sending');
    await page.getByRole('heading', { name: 'Set up sending', level: 1 }).waitFor();
    await expectSound(opened);
    await click('button', 'Keep the mail here');
    await page.getByRole('heading', { name: 'Send a mail', level: 1 }).waitFor();
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('bob@example.org');
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('It works.');
    await click('button', 'Send');
    await page.getByRole('heading', { name: 'Hello Bob', level: 1 }).waitFor();
    await on.app.app.engine.whenIdle();
    await page.getByText('Mail of this project is kept here, and sent to nobody.').waitFor();
    await page.getByText('kept here', { exact: true }).waitFor();
    await expectSound(opened);
    const sent = on.app.services.database.read.$client.query('SELECT status, to_email FROM emails').all();
    expect(sent).toEqual([{ status: 'sent', to_email: 'bob@example.org' }]);
    expect(on.app.services.mailboxes.list()).toMatchObject([
      { address: 'hello@capture.test', kind: 'capture', used_today: 1 },
    ]);
    expect(clicks).toBe(5);
    const home = await openSignedIn(on, '/');
    await home.page.getByRole('link', { name: '1 mail kept here this week, and sent to nobody' }).click();
    await home.page.getByRole('heading', { name: 'Set up sending', level: 1 }).waitFor();
    const log = await openSignedIn(on, '/projects/shop/emails');
    await log.page.getByRole('cell', { name: 'sent kept here' }).waitFor();
    const again = await openSignedIn(on, '/projects/shop/emails/new');
    expect(await again.page.getByLabel('Subject').inputValue()).toBe('');
  });

  test('then a domain, its records as they are found, a relay that is tried first, and a test', async () => {
    const sink = await startSmtpSink({ users: { satchel: 'right' }, offers_plain_auth: true });
    atEnd(() => sink.stop());
    const next = '/projects/shop/emails/new';
    const opened = await openSignedIn(on, `/set-up-sending?next=${next}`);
    const { page } = opened;
    on.dns.set('example.com', { ns: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'] });
    await page.getByLabel('Domain').fill('mail.example.com');
    await page.getByRole('button', { name: 'Go on with this domain' }).click();
    await page.getByRole('heading', { name: '1. Publish the records' }).waitFor();
    await page.getByText('missing', { exact: true }).first().waitFor();
    await page.getByText('In the DNS of the domain, at Cloudflare.').waitFor();
    await page.getByRole('button', { name: 'Copy the value of the DKIM record' }).waitFor();
    await expectSound(opened);
    // Mail is kept until this one can send.
    expect(on.app.services.sending_domains.list()).toMatchObject([
      { name: 'capture.test', is_default: true },
      { name: 'mail.example.com', is_default: false },
    ]);

    await page.getByLabel('Host').fill(sink.host);
    await page.getByText('Port and encryption').click();
    await page.getByLabel('Port').fill(String(sink.port));
    await page.getByLabel('User').fill('satchel');
    await page.getByLabel('Password').fill('wrong');
    await page.getByLabel('Encryption').selectOption('none');
    await page.getByRole('button', { name: 'Try it and save' }).click();
    await page.getByText('The server did not let us in.').waitFor();
    await page.getByText('Are user and password those for SMTP?').waitFor();
    expect(on.app.services.mailboxes.list().map(({ address }) => address)).toEqual(['hello@capture.test']);
    await expectSound(opened);
    await page.getByLabel('Password').fill('right');
    await page.getByRole('button', { name: 'Try it and save' }).click();
    await page.getByText('hello@mail.example.com sends through it.').waitFor();

    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('The relay took the message to ann@example.org.').waitFor();
    expect(sink.mails.map(({ envelope }) => envelope.to)).toEqual([['ann@example.org']]);

    // Whose relay it is its host does not tell, and any provider may be chosen.
    await page.getByRole('heading', { name: '4. Hear of bounces' }).waitFor();
    await page.getByLabel('Whose events').selectOption('postmark');
    await page.getByRole('button', { name: 'Make the URL' }).click();
    await page.getByText('Nothing yet: the first event is waited for.').waitFor();
    await page.getByText('Postmark, the server, its message stream, Webhooks').waitFor();
    const { url = null } =
      on.app.services.mailboxes.show(on.app.services.mailboxes.require('hello@mail.example.com')).events ??
      {};
    await page.getByText(url ?? '', { exact: true }).waitFor();
    const { pathname } = new URL(url ?? '');
    await on.app.call('POST', pathname, { body: { RecordType: 'Open' } });
    await page.getByText('Events come; the last one').waitFor();

    // Found by themselves: nobody asks for it.
    for (const { name, value } of on.app.services.sending_domains.show('mail.example.com').records)
      on.dns.set(name, { txt: [value] });
    await page.getByText('They are found').waitFor();
    expect(on.app.services.sending_domains.get('mail.example.com')).toMatchObject({
      is_verified: true,
      is_default: true,
    });
    await expectSound(opened);
    await page.getByRole('link', { name: 'Back to where you were' }).click();
    await page.getByRole('heading', { name: 'Send a mail', level: 1 }).waitFor();
    await write(page);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('heading', { name: 'Hello Bob', level: 1 }).waitFor();
    const [, mail] = await sink.waitForMails(2);
    expect(await page.getByText('Mail of this project is kept here').count()).toBe(0);
    expect(mail?.envelope).toMatchObject({ to: ['bob@example.org'] });
  });

  test('an address elsewhere is none to go back to', async () => {
    const { page } = await openSignedIn(on, '/set-up-sending?domain=mail.example.com&next=//evil.example/');
    await page.getByRole('link', { name: 'To the home page' }).waitFor();
    expect(await page.getByRole('link', { name: 'Back', exact: true }).count()).toBe(0);
  });
});
