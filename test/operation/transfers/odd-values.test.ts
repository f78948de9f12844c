/** A project's file brings whatever was stored: each column is filled with the oddest value that its own way in takes. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { join } from 'node:path';
import { IDS, JSON_TEXTS } from '../../../src/operation/transfers/column-rules.ts';
import { GOING } from '../../../src/operation/transfers/inventory-tables.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { readMailReply } from '../../../src/platform/mail/mail-replies.ts';
import { startSequenceApp } from '../../marketing/sequences/setup.ts';
import { dataOf } from '../../marketing/settings/setup.ts';
import { runWith } from '../../support/command.ts';
import { sql, upload } from '../../support/deployment.ts';
import { makeTempDir } from '../../support/temp.ts';
import { PASSPHRASE, startFilled } from './setup.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);
type Stored = string | number | Uint8Array | null;

/** What a text in JSON or a cell of a file may hold. */
const ANYTHING = 'a\0\x01\t\r\n\x7f\x85\u2028\u202e"<\u{1f600}';
/** A file with NUL in it is none. */
const IN_A_FILE = ANYTHING.replace('\0', '');
/** What the value of a header of HTTP may hold: Bun lets nothing else through. */
const OF_HTTP = 'a\t\x7f\xe9b';
/** What a name in a header of a mail may hold. */
const OF_MAIL = 'a\t\x85\u2028\u{1f600}b';
/** Relays and resolvers write what they like. */
const OF_OTHERS = 'a\x01\r\n\tb';
/** Before 1970. */
const LONG_AGO = Date.parse('1915-06-01T00:00:00Z');

/** Each column with its value, and the way in that takes it; what is not here stands below. */
const ODD: readonly (readonly [columns: string, value: Stored])[] = [
  // The API takes these texts as they are.
  [
    `api_keys.name email_templates.name email_templates.description email_templates.subject email_templates.body_html
     email_templates.body_text email_templates.body_markdown email_schedules.name email_schedules.description
     email_schedules.body_html email_schedules.body_text marketing_settings.postal_address marketing_settings.brand_name
     contact_lists.name contact_lists.description contacts.first_name contacts.last_name contacts.source contacts.reason
     contacts.consent_ip contacts.consent_origin contact_tags.tag contact_events.event segments.name sequences.name
     sequence_counts.step sequence_counts.track sequence_mails.step enrollments.track enrollments.step broadcasts.name
     broadcasts.preheader broadcasts.summary broadcasts.template webhooks.description projects.name projects.notes projects.description
     projects.app_identifier projects.primary_url projects.repo_url email_bodies.body_html email_bodies.body_text bulk_contents.body_html bulk_contents.body_text
     access_tokens.name tracking_choices.ip tracking_choices.origin`,
    ANYTHING,
  ],
  // Who does something has whatever name a person, a token or an account has.
  [
    `audit_events.actor_name audit_events.target vault_reveals.actor_name vault_versions.actor_name vault_values.note
     access_tokens.created_by_name`,
    ANYTHING,
  ],
  // Cells of an imported file.
  ['contact_import_rejections.email', IN_A_FILE],
  // Headers of requests.
  [
    `emails.app_id emails.user_agent email_clicks.user_agent idempotent_answers.idempotency_key contact_confirmations.tracking_origin
     contact_confirmations.tracking_ip`,
    OF_HTTP,
  ],
  // Names and subjects of mails; a Message-ID is any text of a message that came by SMTP.
  [
    'emails.subject emails.from_name emails.to_name marketing_settings.from_name email_schedules.from_name email_schedules.subject broadcasts.from_name broadcasts.title',
    OF_MAIL,
  ],
  ['emails.message_id', `<${OF_OTHERS.replace(/[\r\n]/g, '')}${'x'.repeat(20_000)}@a.example>`],
  // Words of relays, resolvers and readers of mail.
  [
    `emails.smtp_response emails.error emails.choice email_attempts.smtp_response email_attempts.choice email_reports.words mailgun_events.words email_replies.subject
     email_replies.text contact_imports.error jobs.error enrollments.error projects.link_domain_problem`,
    OF_OTHERS,
  ],
  ['vault_values.filename vault_versions.filename', 'a\u2028\u{1f600}.p12'],
  ['objects.original_filename', 'a\u00a0"é\u{1f600}.txt'],
  ['objects.mime_type', 'text/plain;a="\\"\t b"'.replace('\t', '')],
  // A moment that somebody names may be any.
  ['contacts.consent_at contact_events.occurred_at', LONG_AGO],
  ['captured_messages.raw', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
];

/** Texts that this server makes itself, or takes in one form alone: hashes, sealed values, addresses, domains, days, slugs. */
const IN_ONE_FORM = words(`
  api_keys.key_prefix api_keys.key_hash api_keys.sealed_key key_origins.value key_usage.day idempotent_answers.caller
  idempotent_answers.request_hash idempotent_answers.body audit_events.actor_id audit_events.ip audit_events.event objects.sought_name
  objects.sha256 object_link_keys.sealed_key email_templates.slug email_schedules.cron_expression email_schedules.timezone
  email_schedules.template email_schedules.reply_to email_schedules.domain marketing_settings.reply_to marketing_settings.brand_color
  marketing_settings.brand_logo_url marketing_settings.brand_website_url marketing_settings.send_window_start
  marketing_settings.send_window_end marketing_settings.timezone marketing_keys.sealed_key marketing_usage.day
  contact_lists.confirmation_template contact_lists.from_address contact_lists.signed_up_url contact_lists.confirmed_url contacts.email
  contacts.contact_token contacts.consent_basis contacts.source_platform contact_confirmations.token_hash sign_ups_of_left.hash
  contact_import_rejections.reason suppressions.hash suppressions.mailbox tracking_choices.email addresses_to_forget.email
  merge_sources.hash merge_links.target jobs.type jobs.lane emails.requested_domain emails.quota_day emails.from_email emails.domain
  emails.to_email emails.reply_to emails.template emails.ip emails.tls email_bodies.message email_attempts.mailbox email_attempts.tls
  captured_messages.mailbox email_reports.address email_reports.mailbox mailgun_events.domain mailgun_events.reason
  email_replies.digest email_replies.from_email
  sequence_counts.what broadcasts.reply_to broadcast_counts.what vault_services.service vault_services.environment vault_environments.name
  vault_values.environment vault_values.service vault_values.field vault_versions.environment vault_versions.service vault_versions.field
  vault_versions.sealed vault_versions.actor_id vault_reveals.environment
  vault_values.sealed vault_reveals.actor_id vault_reveals.ip vault_reveals.service vault_reveals.field webhooks.url
  webhooks.sealed_secret webhooks.sealed_old_secret projects.slug projects.sending_domain projects.link_domain
  access_tokens.token_prefix access_tokens.token_hash access_tokens.last_used_ip access_tokens.created_by_id`);

const { app, ids, plain_key: key } = await startFilled();
const path = join(app.data_dir, 'satchel.db');

function query(of: string, text: string): Stored[][] {
  const sqlite = new Database(of, { readonly: true });
  try {
    return sqlite.query(text).values() as Stored[][];
  } finally {
    sqlite.close();
  }
}

async function call(method: string, to: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await app.call(method, `/api/v1${to}`, { key, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${to}: ${answer.text}`);
  return answer.body;
}

/** A request with these headers, byte by byte. */
async function post(to: string, headers: Record<string, string>, body: object): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const text = Buffer.from(JSON.stringify(body));
  const all = {
    Host: hostname,
    'X-API-Key': key,
    'Content-Type': 'application/json',
    'Content-Length': text.length,
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  const head = Buffer.from(`POST /api/v1${to} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  const socket = connect(Number(port), hostname, () => socket.write(Buffer.concat([head, text])));
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.on('close', () => resolve(answer));
  return promise;
}

/** By the ways in themselves, as far as they are surprising. */
test('these ways in take these values', async () => {
  const headers = { 'X-App-Id': OF_HTTP, 'User-Agent': OF_HTTP, 'Idempotency-Key': OF_HTTP };
  const mail = {
    to: 'odd@example.com',
    to_name: OF_MAIL,
    from_name: OF_MAIL,
    subject: OF_MAIL.trim(),
    body_text: ANYTHING,
  };
  expect(await post('/emails/send', headers, mail)).toStartWith('HTTP/1.1 202');
  const contact = {
    email: 'odd@example.com',
    consent_at: new Date(LONG_AGO).toISOString(),
    consent_ip: ANYTHING,
    tracking: 'allowed',
  };
  const { contact_token } = (await call('POST', `/email-lists/${ids.list}/contacts`, contact)).data as Record<
    string,
    string
  >;
  await call('POST', '/email-contacts/events', {
    contact_token,
    event: 'born',
    occurred_at: new Date(LONG_AGO).toISOString(),
  });
  const { data: broadcast } = await call('POST', '/email-broadcasts', {
    name: 'Odd',
    list: ids.list,
    template: ANYTHING,
    preheader: ANYTHING,
  });
  expect(broadcast).toMatchObject({ template: ANYTHING, preheader: ANYTHING });
  const csv = await upload(
    app,
    key,
    new TextEncoder().encode(
      `email,first_name\n"${IN_A_FILE.replace('"', '""')}@@x",Ann\n"ann@example.org\nbob@example.org",Bob\n`,
    ),
  );
  const made = await app.call('POST', `/api/v1/email-lists/${ids.list}/imports`, {
    key,
    body: { method: 'csv', object: csv },
  });
  dataOf(made, made.status);
  await app.app.engine.whenIdle();
  const reply = await readMailReply(
    Buffer.from(
      `From: Ann <ann@example.com>\r\nSubject: Re: a\r\nIn-Reply-To: <x@y>\r\nMessage-ID: <m@y>\r\n\r\nYes,\r\n\tplease.\r\n`,
    ),
  );
  expect(reply?.text).toBe('Yes,\n\tplease.');
  for (const [column, value] of [
    ['emails.app_id', OF_HTTP],
    ['emails.user_agent', OF_HTTP],
    ['emails.to_name', OF_MAIL],
    ['idempotent_answers.idempotency_key', OF_HTTP],
    ['contacts.consent_ip', ANYTHING],
    ['contacts.consent_at', LONG_AGO],
    ['contact_events.occurred_at', LONG_AGO],
    ['broadcasts.template', ANYTHING],
    ['contact_import_rejections.email', `${IN_A_FILE}@@x`],
    ['contact_import_rejections.email', 'ann@example.org\nbob@example.org'],
  ] as const) {
    const [table, name] = column.split('.');
    const found = query(path, `SELECT ${name} FROM ${table}`).flat();
    expect([column, found.includes(value)]).toEqual([column, true]);
  }
});

/** Puts a value into a row of a table. The trail is only ever added to. */
function fill(table: string, name: string, value: Stored): void {
  if (table === 'audit_events') {
    const event = {
      id: newId(app.clock.now()),
      actor_kind: 'person',
      actor_name: 'a',
      event: 'a.b',
      [name]: value,
    };
    const names = Object.keys(event);
    sql(
      app.data_dir,
      `INSERT INTO audit_events (at, project_id, project_public_id, ${names})
       SELECT 1, id, public_id, ${names.map(() => '?')} FROM projects WHERE slug = 'shop'`,
      ...Object.values(event).map(String),
    );
    return;
  }
  const key_of_row = query(path, `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0`)
    .flat()
    .join(', ');
  const which = { projects: "WHERE slug = 'shop'", jobs: 'WHERE project_id IS NOT NULL' }[table] ?? '';
  sql(
    app.data_dir,
    `UPDATE ${table} SET ${name} = ? WHERE (${key_of_row}) = (SELECT ${key_of_row} FROM ${table} ${which} LIMIT 1)`,
    value as string,
  );
}

test('a file with a row of each table, each of whose columns has such a value, is imported with all of them', async () => {
  // Without servers, which would go on with what waits, and forget what is too old.
  await app.stop();
  sql(app.data_dir, 'UPDATE email_replies SET received_at = ?', app.clock.now());
  const odd = ODD.flatMap(([columns, value]) => words(columns).map((column) => [column, value] as const));
  for (const [column, value] of odd) {
    const [table = '', name = ''] = column.split('.');
    fill(table, name, value);
  }
  const there = await startSequenceApp();
  await there.app.stop();
  const file = join(makeTempDir(), 'odd.satchel');
  for (const [data_dir, ...verb] of [
    [app.data_dir, 'export', 'shop', file, '--copy'],
    [there.app.data_dir, 'import', file],
  ]) {
    const env = { SATCHEL_DATA_DIR: data_dir, PASSPHRASE };
    const { exit, stderr } = await runWith(env, 'project', ...verb, '--passphrase', 'env:PASSPHRASE');
    expect([exit, stderr]).toEqual([0, expect.not.stringContaining('refused')]);
  }
  const arrived = join(there.app.data_dir, 'satchel.db');
  const lost = odd.filter(([column, value]) => {
    const [table, name] = column.split('.');
    return !query(arrived, `SELECT ${name} FROM ${table}`).some(([found]) => Bun.deepEquals(found, value));
  });
  // What was wrong with a host name elsewhere is no longer so: it is asked anew.
  expect(lost.map(([column]) => column)).toEqual(['projects.link_domain_problem']);
});

test('each column of texts and bytes has such a value, or is of one form', () => {
  const told = [...ODD.flatMap(([columns]) => words(columns)), ...IN_ONE_FORM];
  const columns = [...GOING, 'projects', 'access_tokens'].flatMap((table) => {
    const [[schema] = []] = query(path, `SELECT sql FROM sqlite_master WHERE name = '${table}'`);
    return query(path, `SELECT name FROM pragma_table_info('${table}') WHERE type IN ('TEXT', 'BLOB')`)
      .map(([name]) => String(name))
      .filter((name) => ![...IDS, ...JSON_TEXTS.flatMap(({ names }) => names)].includes(name))
      .filter((name) => !new RegExp(`\\b${name} TEXT[^,\n]*CHECK`).test(String(schema)))
      .map((name) => `${table}.${name}`);
  });
  expect(columns.filter((column) => !told.includes(column))).toEqual([]);
  expect(told.filter((column) => !columns.includes(column) && !column.endsWith('_at'))).toEqual([]);
});
