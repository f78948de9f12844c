/** A project that runs sequences: one on the way with its numbers, one that its bounces have paused, and drafts. */
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor, makeProject, type TestApp } from '../support/helpers.ts';

export interface SequencesSample {
  /** The project of the sequences. */
  magazine: string;
  running: string;
  paused: string;
  draft: string;
  hostile_sequence: string;
  /** A contact that sequences mail. */
  reader: string;
}

const HOUR_MS = 3_600_000;
const WEEK_HOURS = 168;
const READERS = 48;

const STEPS = [
  { key: 'welcome', template: 'welcome', delay_hours: 0 },
  { key: 'tips', template: 'three-tips', delay_hours: 48, variables: { issue: 'spring' } },
  {
    ...{ key: 'offer', template: 'offer', delay_hours: 72 },
    condition: { type: 'clicked', else: { route_to: 'reminder' } },
  },
  {
    ...{ key: 'thanks', template: 'welcome', delay_hours: 120, is_final: true },
    condition: { type: 'event', event: 'purchased', else: 'exit' },
  },
  { key: 'nudge', track: 'reminder', template: 'three-tips', delay_hours: 24 },
  {
    ...{ key: 'last-call', track: 'reminder', template: 'offer', delay_hours: 36, is_final: true },
    condition: {
      ...{ type: 'all', of: [{ type: 'not_clicked' }, { type: 'no_event', event: 'purchased' }] },
      else: { route_to: 'regulars' },
    },
  },
  { key: 'digest', track: 'regulars', template: 'three-tips', delay_hours: 168, is_final: true },
];

/** Adds them as of a week before `now_ms`; the clock of the app is almost there afterwards. */
export async function addSequences(app: TestApp, now_ms: number, hostile: string): Promise<SequencesSample> {
  app.clock.at_ms = now_ms - (WEEK_HOURS + 6) * HOUR_MS;
  const project = await makeProject(app, 'magazine');
  const key = await project.key({
    ...{ can_read: true, can_write: true, can_manage_email_marketing: true },
    permissions: { email_template: true },
  });
  const call = async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await app.call(method, `/api/v1${path}`, { key, body });
    if (answer.status > 201) throw new Error(`${path}: ${answer.text}`);
    return answer.body.data as Record<string, unknown>;
  };
  await app.services.mailboxes.add(actor, {
    ...{ address: 'letters@mail.example.com', relay: null, daily_limit: null, return_path: null },
    ...{ for_transactional: false, for_marketing: true },
  });
  await call('PATCH', '/email-marketing/settings', {
    ...{ enabled: true, from_name: 'Magazine', postal_address: '1 High Street, Springfield' },
  });
  for (const [slug, subject] of Object.entries({
    welcome: 'Welcome, {{first_name}}',
    'three-tips': 'Three tips for your balcony',
    offer: 'A year of reading, half the price',
  }))
    await call('POST', '/emails/templates', {
      ...{ name: slug, slug, subject, category: 'marketing', is_marketing: true, layout: 'marketing' },
      ...{
        body_text: subject,
        body_html: `<p>${subject} <a href="https://magazine.example.com/">Read on</a></p>`,
      },
    });
  const list = String(
    (await call('POST', '/email-lists', { name: 'Readers', default_consent_basis: 'consent' })).id,
  );
  const contacts: string[] = [];
  for (let index = 0; index < READERS; index += 1) {
    const contact = await call('POST', `/email-lists/${list}/contacts`, {
      ...{ email: `reader${index}@example.org`, first_name: `Reader ${index}` },
      tags: index % 3 === 0 ? ['balcony'] : [],
    });
    contacts.push(String(contact.id));
  }
  const create = async (fields: Record<string, unknown>): Promise<string> =>
    String((await call('POST', '/email-sequences', { list, max_recipients: 1_000, ...fields })).id);
  const running = await create({
    ...{ name: 'Welcome to the magazine', steps: STEPS, exit_events: ['unsubscribed-by-phone'] },
    ...{ enroll_tags: ['balcony'], auto_enroll_new_contacts: true, track_opens: true },
  });
  const paused = await create({ name: 'Win back', steps: [{ ...STEPS[0], is_final: true }] });
  await run(app, project, { sequence: running, contacts });
  await start(app, project, paused);
  await app.services.database.write((tx) => {
    tx.$client.run(
      `UPDATE sequence_mails SET bounced_at = sent_at WHERE enrollment_id % 6 = 0
         AND sequence_id = (SELECT id FROM sequences WHERE public_id = ?)`,
      [paused],
    );
    tx.$client.run(
      "UPDATE sequences SET status = 'paused', pause_reason = 'bounce_threshold' WHERE public_id = ?",
      [paused],
    );
  });
  const draft = await create({
    name: 'Spring campaign',
    steps: [
      { key: 'announcement', template: 'spring', delay_hours: 0 },
      {
        key: 'reminder',
        template: 'offer',
        delay_hours: 60,
        condition: {
          ...{ type: 'all', of: [{ type: 'not_clicked' }, { type: 'no_event', event: 'purchased' }] },
          else: { route_to: 'late' },
        },
      },
    ],
  });
  const hostile_sequence = await create({
    ...{ name: hostile, enroll_tags: [hostile] },
    steps: [{ key: 'a', template: hostile, variables: { [hostile]: hostile }, is_final: true }],
  });
  const [, reader = ''] = contacts;
  return { magazine: project.slug, running, paused, draft, hostile_sequence, reader };
}

/** Has one run for all of the list, and sends what is due. Activation would look at DNS records, which a sample has none of. */
async function start(
  app: TestApp,
  project: { id: number; public_id: string },
  sequence: string,
): Promise<void> {
  await app.services.database.write((tx) => {
    tx.$client.run("UPDATE sequences SET status = 'paused' WHERE public_id = ?", [sequence]);
  });
  await app.services.sequence_life.resume(actor, project, sequence);
  await app.services.sequence_life.enroll(project, sequence, { all: true }, { note: noNote });
  app.app.engine.wake();
  await app.app.engine.whenIdle();
}

/** A week of it: of four readers one clicks, some mails come back, and some leave. */
async function run(
  app: TestApp,
  project: { id: number; public_id: string },
  { sequence, contacts }: { sequence: string; contacts: readonly string[] },
): Promise<void> {
  const { database } = app.services;
  await start(app, project, sequence);
  for (let hour = 0; hour < WEEK_HOURS; hour += 12) {
    app.app.engine.wake();
    await app.app.engine.whenIdle();
    await database.write((tx) => {
      const at = app.clock.at_ms;
      tx.$client.run(
        'UPDATE sequence_mails SET opened_at = ?1 WHERE opened_at IS NULL AND enrollment_id % 2 = 0',
        [at],
      );
      tx.$client.run(
        'UPDATE sequence_mails SET clicked_at = ?1 WHERE clicked_at IS NULL AND enrollment_id % 4 = 0',
        [at],
      );
      tx.$client.run(
        "UPDATE sequence_mails SET bounced_at = ?1 WHERE bounced_at IS NULL AND enrollment_id % 19 = 0 AND step = 'welcome'",
        [at],
      );
    });
    const leaving = hour % 48 === 36 ? contacts[hour / 12] : undefined;
    if (leaving) await app.services.contacts.unsubscribe(project, leaving, noNote);
    app.clock.at_ms += 12 * HOUR_MS;
  }
}
