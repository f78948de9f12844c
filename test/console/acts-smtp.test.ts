/** Mail that an app hands in by SMTP, in the console in a real browser: what the app is to be set to, the mail with its files and replies, and who sends beside it. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { readAggregateReports } from '../../src/platform/mail/aggregate-reports.ts';
import { readMailReply } from '../../src/platform/mail/mail-replies.ts';
import { addDomain } from '../mail/emails/setup.ts';
import { handIn, messageFrom, signedIn } from '../mail/submission/setup.ts';
import { dmarc, message, row } from '../support/aggregate-samples.ts';
import { makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { beforeAllInConsole, type ConsoleTest, executable, expectSound, openSignedIn } from './browser.ts';

const DOMAIN = 'shop.example.com';
const MESSAGE = messageFrom(`Shop <hello@${DOMAIN}>`, {
  subject: 'Your order',
  fields: [
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    'Message-ID: <1@app.example>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
  ],
  body: '--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nIt is on its way.\r\n--b\r\nContent-Type: application/pdf; name="invoice.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b--\r\n',
});

let on: ConsoleTest;
let id = '';
beforeAllInConsole(
  async (started) => {
    on = started;
    const shop = await makeProject(on.app, 'shop');
    await addDomain(on.app, DOMAIN, null, { is_default: true });
    const key = await shop.key({ can_send_emails: true });
    await shop.key({ can_send_emails: true, restricted: true });
    await shop.key({ can_read: true });
    const client = await signedIn(portNow(), key);
    id = (await handIn(client, MESSAGE)).slice(-26);
    client.close();
    await on.app.app.engine.whenIdle();
  },
  { SATCHEL_SMTP_PORT: '0' },
);

const portNow = (): number => on.app.services.submission.ports?.port ?? 0;
const open = async (path: string) => openSignedIn(on, path);

describe.skipIf(executable === null)('mail by SMTP in a browser', () => {
  test('a key that may send says what an app is to be set to, each value to be copied; another says nothing', async () => {
    const opened = await open('/projects/shop/keys/1?tab=secret');
    const { page, complaints } = opened;
    await expectSound(opened);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('heading', { name: 'Mail by SMTP' }).waitFor();
    const told = page.locator('.facts');
    expect(await told.locator('dt').allTextContents()).toEqual(['Host', 'Port', 'TLS', 'User']);
    expect(await told.locator('code').allTextContents()).toEqual(['127.0.0.1', String(portNow()), 'satchel']);
    for (const [name, value] of Object.entries({
      host: '127.0.0.1',
      port: String(portNow()),
      user: 'satchel',
    })) {
      await page.getByRole('button', { name: `Copy the ${name}` }).click();
      await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === value);
    }
    await page.goto(`${on.app.url}/console/projects/shop/keys/2?tab=secret`);
    await page.getByText('An app that speaks SMTP sends no origin').waitFor();
    await page.goto(`${on.app.url}/console/projects/shop/keys/3?tab=secret`);
    await page.getByRole('heading', { name: 'Delete the key' }).first().waitFor();
    expect(await page.getByRole('heading', { name: 'Mail by SMTP' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a mail shows its files and what was answered, and is saved byte for byte', async () => {
    const answer = `From: Ada <ada@example.org>\r\nSubject: Re: Your order\r\nIn-Reply-To: <1@app.example>\r\n\r\nThank you!\r\n`;
    const reply = await readMailReply(Buffer.from(answer));
    const { replies, database } = on.app.services;
    await database.write((tx) => reply && replies.take(tx, reply, { domain: DOMAIN, arrived_at: null }));
    const opened = await open(`/projects/shop/emails/${id}`);
    const { page, complaints } = opened;
    await expectSound(opened);
    await page.getByText(/^Accepted by SMTP with the key/).waitFor();
    await page.getByText('Answered: ada@example.org').waitFor();
    await page.getByRole('heading', { name: 'Replies' }).waitFor();
    await page.getByText('Thank you!').waitFor();
    await page.getByText('It is on its way.').waitFor();
    await page.getByText('invoice.pdf').waitFor();
    const begun = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Download the message/ }).click();
    const download = await begun;
    expect(download.suggestedFilename()).toBe(`${id}.eml`);
    expect(readFileSync(await download.path(), 'latin1')).toBe(MESSAGE);
    expect(complaints).toEqual([]);
  });

  test('a domain shows who else sends in its name, and what is to be done', async () => {
    const content = gzipSync(
      dmarc({
        end: new Date(on.app.clock.now() - 86_400_000).toISOString(),
        rows: [row({ from: DOMAIN, count: 171, dkim: 'fail', signer: 'mcsv.net' })],
      }),
    );
    const { reports } = await readAggregateReports(
      Buffer.from(message({ type: 'application/gzip', content }), 'latin1'),
    );
    const { domain_reports, database } = on.app.services;
    await database.write((tx) => reports.map((report) => domain_reports.take(tx, report)));
    const opened = await open(`/sending-domains/${DOMAIN}?tab=reports`);
    const { page, complaints } = opened;
    await expectSound(opened);
    await page.getByRole('heading', { name: 'Who sends in its name' }).waitFor();
    await page
      .getByText('Mailchimp: 40 mails a week fail; if it is a service of yours, add its DKIM or stop it')
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
