/** Sending domains and mailboxes in the console, in a real browser, and what is in the database after it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AppError } from '../../src/errors.ts';
import { actor } from '../helpers.ts';
import { type ConsoleTest, executable, openPage, signIn, startConsole, TIMEOUT_MS } from './browser.ts';
import { HOSTILE } from './sample-data.ts';

let on: ConsoleTest;

beforeAll(async () => {
  if (executable === null) return;
  on = await startConsole();
}, TIMEOUT_MS);
afterAll(() => on?.close());

const open = async (path: string) => openPage(on, await signIn(on), path);

describe.skipIf(executable === null)('a sending domain', () => {
  test(
    'is added, is verified by what the DNS says, which is shown as the text it is, and gets a new key',
    async () => {
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

      await page.getByRole('link', { name: 'Signing key' }).click();
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
    },
    TIMEOUT_MS,
  );

  test(
    'is trusted and taken out of use, but not over what somebody else has changed meanwhile; and removed by its name',
    async () => {
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
    },
    TIMEOUT_MS,
  );
});
