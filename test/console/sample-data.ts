/** A Satchel as one looks after a few weeks, with hostile strings where people could have put them. */
import { actor, addCapturingMailbox, makeProject, type TestApp } from '../support/helpers.ts';
import { type AdministrationSample, addAdministration } from './sample-admin.ts';
import { addBroadcasts, type BroadcastsSample } from './sample-broadcasts.ts';
import { addFilesAndMail, type MailSample } from './sample-mail.ts';
import { addImports, addMarketing, type ImportsSample, type MarketingSample } from './sample-marketing.ts';
import { addPeople, type PeopleSample } from './sample-people.ts';
import { addSecrets, type SecretsSample } from './sample-secrets.ts';
import { addSequences, type SequencesSample } from './sample-sequences.ts';
import { addWebhooks, type WebhooksSample } from './sample-webhooks.ts';

/** What must be shown as the text it is. */
export const HOSTILE = '<img src=x onerror="document.title=\'pwned\'"><script>alert(1)</script>';

export interface Sample
  extends MailSample,
    MarketingSample,
    ImportsSample,
    SecretsSample,
    PeopleSample,
    SequencesSample,
    BroadcastsSample,
    AdministrationSample,
    WebhooksSample {
  project: string;
  key: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Fills an app whose clock is the machine's: it goes back three weeks, and comes back to where it was. */
export async function addSampleData(app: TestApp): Promise<Sample> {
  const now_ms = app.clock.at_ms;
  app.clock.at_ms = now_ms - 21 * DAY_MS;
  const sample = await addProjects(app);
  const key = await sample.makeKey();
  const marketing = await addMarketing(app, key, HOSTILE);
  const sequences = await addSequences(app, now_ms, HOSTILE);
  const broadcasts = await addBroadcasts(app, sequences, HOSTILE);
  await addMails(app, now_ms, key);
  const people = await addPeople(app, HOSTILE);
  const secrets = await addSecrets(app, HOSTILE);
  const mail = await addFilesAndMail(app, key, HOSTILE);
  app.clock.at_ms = now_ms;
  const imports = await addImports(app, key);
  const administration = await addAdministration(app, HOSTILE);
  const webhooks = await addWebhooks(app, HOSTILE);
  return {
    project: sample.project,
    key: sample.key,
    ...mail,
    ...marketing,
    ...sequences,
    ...broadcasts,
    ...imports,
    ...people,
    ...secrets,
    ...administration,
    ...webhooks,
  };
}

/** A day of mail, more of it in the afternoon; some is refused. */
async function addMails(app: TestApp, now_ms: number, key: string): Promise<void> {
  for (let hour = 23; hour >= 0; hour -= 1) {
    app.clock.at_ms = now_ms - hour * HOUR_MS;
    for (let index = 0; index < 2 + ((hour * 7) % 5); index += 1) {
      const refused = index === 3 && hour % 3 === 0;
      const to = refused ? 'bounce@simulator.satchel.test' : `reader${hour}@example.org`;
      const body = { to, subject: 'Your order has shipped', body_text: 'It is on its way.', queue: false };
      await app.call('POST', '/api/v1/emails/send', { key, body });
    }
  }
  const subject = HOSTILE;
  const body = { to: 'ann@example.org', subject, body_html: HOSTILE, body_text: HOSTILE, queue: false };
  await app.call('POST', '/api/v1/emails/send', { key, body });
}

/** Three projects, one of them with keys, and what mails are sent from. */
export async function addProjects(
  app: TestApp,
): Promise<Pick<Sample, 'project' | 'key'> & { makeKey(): Promise<string> }> {
  const { projects, keys, origins } = app.services;
  const shop = await makeProject(app, 'shop');
  await projects.update(actor, projects.require('shop'), {
    ...{ name: 'Corner shop', description: 'What the shop sells, and to whom.', platforms: ['web', 'ios'] },
    primary_url: 'https://shop.example.com/',
  });
  await makeProject(app, 'bakery');
  await projects.create(actor, { name: HOSTILE, slug: 'hostile', description: HOSTILE, status: 'inactive' });
  const row = projects.require('shop');
  const key = await keys.create(actor, row, {
    ...{ name: 'web shop', can_read: true, can_write: true, can_send_emails: true, restricted: true },
    permissions: { email_template: true },
  });
  await keys.create(actor, row, { name: 'page', restricted: true, permissions: { upload: true } });
  await keys.create(actor, row, { name: HOSTILE, can_read: true, is_test: true });
  for (const value of ['https://shop.example.com', 'https://*.preview.example.com'])
    await origins.add(actor, keys.require(String(key.id)), { type: 'domain', value });
  await addCapturingMailbox(app);
  const makeKey = (): Promise<string> =>
    shop.key({
      ...{ can_send_emails: true, can_write: true, can_manage_email_marketing: true },
      permissions: { email_template: true },
    });
  return { project: shop.slug, key: String(key.id), makeKey };
}
