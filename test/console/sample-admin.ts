/** What who may administer looks after: domains and mailboxes in several states. */
import { parseInbox } from '../../src/mail/inboxes/service.ts';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { actor, type TestApp } from '../support/helpers.ts';

export interface AdministrationSample {
  backup: string;
  backup_job: string;
}

/** `hostile`: what must be shown as the text it is. */
export async function addAdministration(app: TestApp, hostile: string): Promise<AdministrationSample> {
  const { sending_domains, origins, backups, engine } = app.services;
  await sending_domains.add(actor, { name: 'news.example.com' });
  await sending_domains.rotateDkim(actor, 'news.example.com');
  await sending_domains.add(actor, { name: 'old.example.com' });
  await sending_domains.change(actor, 'old.example.com', { is_active: false });
  await addMailboxes(app, hostile);
  await origins.addGlobal(actor, { type: 'domain', value: 'http://localhost:*', note: 'development' });
  await origins.addGlobal(actor, { type: 'ios', value: 'com.example.shop', note: hostile });
  const { name, job_id } = await backups.make({ ...actor, name: hostile });
  await engine.whenIdle();
  return { backup: name, backup_job: String(job_id) };
}

/** Of a domain that is not verified, so that no mail of the sample goes out from them. */
async function addMailboxes(app: TestApp, hostile: string): Promise<void> {
  const { mailboxes, inboxes } = app.services;
  const relay = parseRelay('smtps://satchel:sesame@smtp.example.com:465');
  const names = ['refused', 'resting', 'paused'] as const;
  for (const name of names)
    await mailboxes.add(actor, {
      ...{ address: `${name}@news.example.com`, relay, daily_limit: 2000, for_marketing: true },
      inbox: name === 'refused' ? parseInbox('imaps://reports:sesame@imap.example.com/Bounces') : null,
    });
  await mailboxes.setStatus(actor, 'paused@news.example.com', 'paused');
  const now_ms = Date.now();
  await app.services.database.write((tx) => {
    const [refused, resting] = names.map((name) => mailboxes.require(`${name}@news.example.com`).id);
    const words = `550 5.7.1 Client host blocked. ${hostile}`;
    mailboxes.health.recordRefusal(tx, refused ?? 0, { words, now_ms });
    for (let age = 5; age >= 0; age -= 1)
      mailboxes.health.recordFailure(tx, resting ?? 0, {
        ...{ started_at: now_ms - age, now_ms: now_ms - age, reason: `connect ECONNREFUSED ${hostile}` },
      });
  });
  const [inbox] = inboxes.listRows();
  if (inbox) await inboxes.noteFailure(inbox, `The log-in was refused: ${hostile}`);
}
