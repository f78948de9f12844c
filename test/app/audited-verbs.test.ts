/** Whoever changes something at the shell is on record: every verb that changes anything leaves its row on the audit trail. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCli } from '../../src/app/command-line.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { type SequenceApp, startSequenceApp } from '../marketing/sequences/setup.ts';
import { dataOf } from '../marketing/settings/setup.ts';
import { standInProcess } from '../support/command.ts';
import type { TestApp } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { allVerbs, pathOf } from '../support/verbs.ts';
import { startReceiver } from '../webhooks/setup.ts';

/** What is run in this order, `NAME` standing for an id that an earlier one printed, with the event that it leaves. */
const CHANGES: readonly (readonly [command: string, event: string, keep?: string])[] = [
  ['project create --name Side --slug side', 'project.created'],
  ['project change side --name Aside', 'project.updated'],
  ['token create --name ci --all-projects', 'token.created', 'TOKEN'],
  ['token revoke TOKEN --yes', 'token.revoked'],
  [
    'token trust add --name ci --issuer https://issuer.example --subject repo:acme/shop:x --project side',
    'token_trust.added',
    'TRUST',
  ],
  ['token trust remove TRUST --yes', 'token_trust.removed'],
  ['person add bob@example.com --all-projects', 'person.created'],
  ['person change bob@example.com --name Bob', 'person.updated'],
  ['person reset bob@example.com', 'person.reset'],
  ['person remove bob@example.com --yes', 'person.removed'],
  ['key create --project side --name web --can read,write --restricted', 'api_key.created', 'KEY'],
  ['key change KEY --name site', 'api_key.updated'],
  ['key rotate KEY', 'api_key.rotated'],
  ['key reveal KEY', 'api_key.revealed'],
  ['key deactivate KEY', 'api_key.updated'],
  ['key activate KEY', 'api_key.updated'],
  ['key origin add KEY --type domain --value a.example.com', 'api_key.origin_added', 'ORIGIN'],
  ['key origin remove KEY ORIGIN --yes', 'api_key.origin_removed'],
  ['origin add --type domain --value b.example.com', 'global_origin.added', 'GLOBAL'],
  ['origin remove GLOBAL --yes', 'global_origin.removed'],
  ['key delete KEY --yes', 'api_key.deleted'],
  ['object put FILE --project shop', 'object.uploaded'],
  ['object link OBJECT --expires-in 1h', 'object_link.created'],
  ['object revoke-links --project shop', 'object_links.revoked'],
  ['object move --to local', 'objects.moved'],
  ['object delete OBJECT --yes', 'object.deleted'],
  ['vault set captcha site_key=0x4AAA --project side', 'vault.updated'],
  ['vault import ENV_FILE --project side --yes', 'vault.updated'],
  ['vault reveal captcha --project side', 'vault.revealed'],
  ['vault env --project side --target server', 'vault.revealed'],
  ['vault run --project side -- true', 'vault.revealed'],
  ['vault delete captcha --project side --yes', 'vault.deleted'],
  ['vault restore captcha VERSION --project side', 'vault.restored'],
  ['vault purge captcha --project side --yes', 'vault.purged'],
  ['environment add staging --project side', 'vault.environment_added'],
  ['environment change staging --project side --inherits', 'vault.environment_changed'],
  ['environment remove staging --project side --yes', 'vault.environment_removed'],
  ['email send --project shop --to ann@example.org --subject Hi --text Hi', 'email.accepted'],
  ['email export --project shop', 'emails.exported'],
  ['email bounce EMAIL', 'email.reported'],
  ['email retry EMAIL', 'email.retried'],
  ['domain add side.example', 'sending_domain.added'],
  ['domain trust side.example', 'sending_domain.trusted'],
  ['domain deactivate side.example', 'sending_domain.deactivated'],
  ['domain activate side.example', 'sending_domain.activated'],
  ['domain default side.example', 'sending_domain.made_default'],
  ['domain default news.example.com', 'sending_domain.made_default'],
  ['domain dkim rotate side.example', 'sending_domain.dkim_key_made'],
  ['mailbox add hi@side.example --capture', 'mailbox.added'],
  ['mailbox change hi@side.example --daily-limit 7', 'mailbox.changed'],
  ['mailbox add out@side.example --smtp smtp://127.0.0.1:9', 'mailbox.added'],
  ['mailbox events out@side.example --provider brevo', 'mailbox.changed'],
  ['mailbox events out@side.example --rotate', 'mailbox.events_rotated'],
  ['mailbox pause hi@side.example', 'mailbox.paused'],
  ['mailbox resume hi@side.example', 'mailbox.resumed'],
  ['mailbox remove hi@side.example --yes', 'mailbox.removed'],
  ['domain remove side.example --yes', 'sending_domain.removed'],
  [
    'schedule create --project shop --name Weekly --to ben@example.org --cron @weekly --subject Hi --text Hi',
    'schedule.created',
  ],
  ['schedule change SCHEDULE --cron @monthly', 'schedule.changed'],
  ['schedule pause SCHEDULE', 'schedule.changed'],
  ['schedule resume SCHEDULE', 'schedule.changed'],
  ['schedule run SCHEDULE', 'schedule.run'],
  ['schedule delete SCHEDULE --yes', 'schedule.deleted'],
  ['marketing change --project shop --brand-name Shop', 'marketing_settings.changed'],
  ['list create --project shop --name News --basis consent --language de', 'list.created', 'LIST'],
  [
    'segment create --project shop --name VIPs --list LIST --filter tags_any=vip',
    'segment.created',
    'SEGMENT',
  ],
  ['segment change SEGMENT --name All', 'segment.changed'],
  ['segment remove SEGMENT --yes', 'segment.deleted'],
  ['contact add eve@example.com --list LIST', 'contact.added'],
  ['import start LIST FILE', 'import.started'],
  ['import resume IMPORT', 'import.resumed'],
  ['import cancel IMPORT --yes', 'import.cancelled'],
  ['contact export --list LIST', 'contacts.exported'],
  ['suppression add eve@example.com --project shop', 'suppression.added'],
  ['suppression remove eve@example.com --project shop --yes', 'suppression.lifted'],
  ['sequence push SEQUENCE_FILE --project shop', 'sequence.created'],
  ['sequence copy SEQUENCE', 'sequence.created'],
  ['sequence activate SEQUENCE', 'sequence.activated'],
  ['sequence enroll SEQUENCE --all', 'sequence.enrolled'],
  ['sequence pause SEQUENCE', 'sequence.paused'],
  ['sequence resume SEQUENCE', 'sequence.resumed'],
  ['sequence finish SEQUENCE --yes', 'sequence.finished'],
  [
    'broadcast create --project shop --name June --list NEWS --template hello',
    'broadcast.created',
    'BROADCAST',
  ],
  ['broadcast change BROADCAST --name July', 'broadcast.changed'],
  ['broadcast copy BROADCAST', 'broadcast.created'],
  ['broadcast send BROADCAST --at 2100-01-01T00:00:00Z --yes', 'broadcast.scheduled'],
  ['broadcast cancel BROADCAST --yes', 'broadcast.cancelled'],
  ['broadcast delete BROADCAST --yes', 'broadcast.deleted'],
  ['broadcast pause RUNNING', 'broadcast.paused'],
  ['broadcast resume RUNNING', 'broadcast.resumed'],
  ['broadcast decide TESTING --variant A', 'broadcast.decided'],
  ['contact unsubscribe CONTACT', 'contact.unsubscribed'],
  ['contact forget ann@example.com --project shop --yes', 'contact.forgotten'],
  ['list change LIST --description Weekly', 'list.changed'],
  ['list archive LIST --yes', 'list.changed'],
  ['template push TEMPLATE_FILE --project shop', 'template.created'],
  ['template delete hello --project shop --yes', 'template.deleted'],
  ['webhook add https://hooks.example.com/ --project shop', 'webhook.created', 'WEBHOOK'],
  ['webhook change WEBHOOK --project shop --types email.sent', 'webhook.changed'],
  ['webhook rotate WEBHOOK --project shop', 'webhook.rotated'],
  ['webhook test HOOKED --project shop', 'webhook.tested', 'DELIVERY'],
  ['webhook replay HOOKED DELIVERY --project shop', 'webhook.replayed'],
  ['webhook remove WEBHOOK --project shop --yes', 'webhook.deleted'],
  ['alert set --email ops@example.com', 'alerts.changed'],
  ['alert off', 'alerts.changed'],
  ['project export side EXPORT --passphrase env:PASS', 'project.exported'],
  ['project delete side --yes', 'public_api.project.deleted'],
  ['project import EXPORT --passphrase env:PASS --go', 'project.imported'],
  ['master-key rotate', 'master_key.rotated'],
];

/** These print records for the DNS; what all others did is told in six lines at most. */
const PUBLISHED = ['domain add', 'domain dkim rotate'];

/** Those that change no row, or are about a data directory as a whole: a restore and its release tell what they hold. */
const OTHERS = `
  audit list, token list, token trust list, person list, project list, project show, project activity, project verify-links, key list, key why, key smtp, key origin list, origin list,
  object list, object show, object get, vault services, vault show, vault history, vault diff, environment list, domain list, domain verify, domain reports, mailbox list, mailbox show, mailbox test,
  email why, email captured, email list, template list, template show, template pull, schedule list, schedule show, job list, job show,
  marketing show, list list, list show, segment list, segment show, contact list, contact show, contact why, import show, suppression list,
  sequence list, sequence show, sequence pull, sequence why, sequence check, sequence preview,
  broadcast list, broadcast show, broadcast recipients, broadcast check, broadcast test,
  alert show, alert test, webhook list, webhook show, webhook deliveries,
  backup, restore, release, verify, replica config, replica status, client typescript, migrate, doctor, health, mcp, serve, completion, version`
  .split(',')
  .map((verb) => verb.trim());

/** The first id that a verb prints, not the number in a name or secret. */
const ID = /\b[0-9A-HJKMNP-TV-Z]{26}\b|(?<=Key |Token |Trust |[oO]rigin )\d+/;

test('every verb changes something and is walked here, or is listed among the others', async () => {
  const walked = CHANGES.map(([command]) => command);
  const named = (await allVerbs())
    .map((verb) => pathOf(verb).replace('satchel ', ''))
    .filter((verb) => !OTHERS.includes(verb));
  expect(named.filter((verb) => !walked.some((command) => `${command} `.startsWith(`${verb} `)))).toEqual([]);
});

test('each verb that changes something leaves its event, as done by the shell user, and tells it in short', async () => {
  const on = await startSequenceApp({ env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  const ids = await makeWhatIsChanged(on);
  const env = {
    ...{ SATCHEL_DATA_DIR: on.app.data_dir, SATCHEL_DNS_SERVERS: on.dns.address },
    SATCHEL_WEBHOOK_ALLOW: '127.0.0.1',
    PASS: 'correct horse battery',
  };
  const trail = () => on.app.services.audit.list(null, { page: 1, per_page: 10 }).data;
  for (const [command, event, keep] of CHANGES) {
    const before = trail()[0]?.id ?? '';
    const { process, written } = standInProcess({ env });
    if (command.includes(' VERSION ')) ids.VERSION = firstOfCaptcha(on.app);
    const args = command.split(' ').map((word) => ids[word] ?? word);
    const exit = await createCli({ ...process, runCommand: async () => 0 }).main(args);
    if (exit !== 0) throw new Error(`satchel ${command}: ${written.stderr}${written.stdout}`);
    const lines = written.stdout.trimEnd().split('\n').length;
    if (!PUBLISHED.some((verb) => command.startsWith(verb)))
      expect([command, lines]).toEqual([command, Math.min(lines, 8)]);
    if (keep) ids[keep] = ID.exec(written.stdout)?.[0] ?? '';
    // What a turn of the server reads is of one moment; a process of its own would have ended in another turn.
    await until(() => (trail()[0]?.id ?? '') > before);
    const left = trail().filter(({ id, actor_kind }) => id > before && actor_kind === 'shell');
    expect([command, left.map((one) => one.event)]).toEqual([command, expect.arrayContaining([event])]);
    if (!/\.(?:changed|(?:origin_)?updated)$/.test(event)) continue;
    const [told] = left.filter((one) => one.event === event).map(({ changes }) => Object.keys(changes));
    expect([command, told?.length]).toEqual([command, 1]);
  }
}, 60_000);

/** What the vault of `side` held first. */
function firstOfCaptcha({ services }: TestApp): string {
  const service = requireVaultService('captcha');
  const held = services.vault_versions.list(services.projects.require('side'), { service }, {});
  return held.data.at(-1)?.version ?? '';
}

/** What no verb makes, or not as it is needed here. */
async function makeWhatIsChanged(on: SequenceApp): Promise<Record<string, string>> {
  const { app, project, call } = on;
  const key = await project.key({ can_read: true, can_write: true, can_send_emails: true });
  const post = async (path: string, body: unknown) =>
    (await app.call('POST', `/api/v1${path}`, { key, body })).body;
  const form = new FormData();
  form.set('file', new Blob(['bytes']), 'a.txt');
  const object = await post('/objects', form);
  const mail = { subject: 'Hello', body_text: 'Hi' };
  const email = await post('/emails/send', { to: 'ben@example.org', ...mail });
  const recipients = [{ email: 'ben@example.org' }];
  const schedule = await post('/email-schedules', {
    ...{ name: 'daily', recipients, cron_expression: '@daily', ...mail },
  });
  await on.template('hello');
  const list = await on.list();
  const contact = await on.contact(list, 'ann@example.com');
  const file = join(app.data_dir, 'people.csv');
  writeFileSync(file, 'email\ncat@example.com\n');
  const env_file = join(app.data_dir, '.env');
  writeFileSync(env_file, 'LOG_LEVEL=info\n');
  const template_file = join(app.data_dir, 'news.md');
  writeFileSync(template_file, '---\nname: News\nsubject: News\ncategory: other\n---\nHello\n');
  const sequence_file = join(app.data_dir, 'welcome.json');
  writeFileSync(sequence_file, JSON.stringify({ name: 'Pushed', list, max_recipients: 5 }));
  const pasted = dataOf(
    await call('POST', `/email-lists/${list}/imports`, { method: 'paste', text: 'dan@example.com' }),
    201,
  );
  await app.services.database.write((tx) =>
    tx.$client.run("UPDATE contact_imports SET status = 'failed', method = 'csv' WHERE id = ?", [
      String(pasted.id),
    ]),
  );
  await app.app.engine.whenIdle();
  const sequence = await on.draft(list, [{ key: 'a', template: 'hello', is_final: true }]);
  const running = dataOf(
    await call('POST', '/email-broadcasts', { name: 'May', list, template: 'hello' }),
    201,
  );
  await app.services.database.write((tx) =>
    tx.$client.run("UPDATE broadcasts SET status = 'sending', started_at = 1 WHERE public_id = ?", [
      String(running.id),
    ]),
  );
  const ab = { variants: [{ name: 'A' }, { name: 'B' }], share: 10, decide_by: 'manual' };
  const testing = dataOf(
    await call('POST', '/email-broadcasts', { name: 'April', list, template: 'hello', ab }),
    201,
  );
  await app.services.database.write((tx) =>
    tx.$client.run("UPDATE broadcasts SET status = 'testing', started_at = 1 WHERE public_id = ?", [
      String(testing.id),
    ]),
  );
  const hooked = dataOf(
    await on.mirror('POST', '/webhooks', { url: startReceiver().url, types: ['email.failed'] }),
    201,
  );
  const made = {
    HOOKED: hooked.id,
    ...{ NEWS: list, RUNNING: running.id, TESTING: testing.id },
    ...{ OBJECT: object.public_id, EMAIL: email.id, SCHEDULE: schedule.id, CONTACT: contact.id },
    ...{
      IMPORT: pasted.id,
      FILE: file,
      ENV_FILE: env_file,
      TEMPLATE_FILE: template_file,
      SEQUENCE: sequence,
      SEQUENCE_FILE: sequence_file,
      EXPORT: join(app.data_dir, 'side.satchel'),
    },
  };
  return Object.fromEntries(Object.entries(made).map(([name, id]) => [name, String(id)]));
}
