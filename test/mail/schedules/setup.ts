/** An app with a project, keys and a capturing mailbox: what every test of schedules starts from. */
import type { Config } from '../../../src/config.ts';
import { actor, startTestApp, type TestApp, type TestAppOptions } from '../../support/helpers.ts';

export const PATH = '/api/v1/email-schedules';

export const VALID = {
  name: 'Weekly report',
  recipients: [{ email: 'ann@example.com', name: 'Ann' }, { email: 'ben@example.com' }],
  cron_expression: '0 9 * * 1',
  subject: 'The week',
  body_text: 'All is well.',
};

export interface ScheduleApp extends TestApp {
  keys: Record<string, string>;
  project_id: number;
  config: Config;
}

export async function makeKey(
  app: TestApp,
  project: string,
  input: Record<string, unknown>,
): Promise<string> {
  const row = app.services.projects.require(project);
  return (await app.services.keys.create(actor, row, { name: 'test', ...input })).plaintext_key;
}

/** On a new data directory also makes the domain `mail.test`, a capturing mailbox on it, projects and keys. */
export async function startScheduleApp(options: TestAppOptions = {}): Promise<ScheduleApp> {
  const app = await startTestApp(options);
  const { projects, sending_domains } = app.services;
  await projects.create(actor, { name: 'One', slug: 'one' });
  await projects.create(actor, { name: 'Two', slug: 'two' });
  await sending_domains.add(actor, { name: 'mail.test', is_default: true, is_trusted: true });
  await addMailbox(app, 'hello@mail.test', null);
  const editor = { can_read: true, can_write: true, permissions: { email_template: true } };
  const keys = {
    full: await makeKey(app, 'one', editor),
    testing: await makeKey(app, 'one', { ...editor, is_test: true }),
    foreign: await makeKey(app, 'two', editor),
    read: await makeKey(app, 'one', { can_read: true }),
    write: await makeKey(app, 'one', { can_write: true }),
  };
  return Object.assign(app, { keys, project_id: projects.require('one').id });
}

export async function addMailbox(app: TestApp, address: string, daily_limit: number | null): Promise<void> {
  await app.services.mailboxes.add(actor, {
    address,
    relay: null,
    daily_limit,
    for_transactional: true,
    for_marketing: false,
    return_path: null,
  });
}
