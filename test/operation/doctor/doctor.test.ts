/** `satchel doctor` finds each thing that can be wrong, names its remedy, and changes nothing itself. */
import { afterAll, expect, test } from 'bun:test';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { worstOf } from '../../../src/operation/doctor/service.ts';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { runWith, satchel } from '../../support/command.ts';
import { blobPath, dumpRows, modeOf, namesIn, sql, upload, uploadFile } from '../../support/deployment.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { satchelCommand } from '../../support/executable.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';

const dns = await startDnsServer();
afterAll(() => dns.stop());

const RELAY = {
  ...{ host: '127.0.0.1', port: 2525, username: null, password: null },
  security: 'opportunistic',
  signs: false,
} as const;

interface Report {
  exit: number;
  status: unknown;
  /** `check: message -> remedy` of those that are not ok. */
  bad: string[];
  ok: string[];
}

async function doctor(data_dir: string): Promise<Report> {
  const settings = { SATCHEL_DATA_DIR: data_dir, SATCHEL_DNS_SERVERS: dns.address };
  const { exit, stdout, stderr } = await runWith(settings, 'doctor', '--json');
  const report: unknown = JSON.parse(stdout || JSON.stringify(stderr));
  if (!isPlainObject(report) || !Array.isArray(report.findings)) throw new Error(stdout + stderr);
  const ids = report.findings.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const bad: string[] = [];
  const ok: string[] = [];
  for (const { check, status, message, remedy } of report.findings) {
    if (status === 'ok') ok.push(`${check}: ${message}`);
    else bad.push(`${status} ${check}: ${message} -> ${remedy}`);
  }
  return { exit, status: report.status, bad, ok };
}

// The executable sets it before all else, so the files of these deployments are as its own.
const umask = process.umask(0o077);
afterAll(() => {
  process.umask(umask);
});

async function startShop(): Promise<{ app: TestApp; key: string; data_dir: string }> {
  // The clock of the tests stands in the year 2030 by default, and the command looks at the real one.
  const app = await startTestApp({ clock: new TestClock(new Date().toISOString()) });
  const key = await (await makeProject(app)).key();
  return { app, key, data_dir: app.data_dir };
}

test('a healthy deployment has nothing but ok, with its server running or not, and is left as it was', async () => {
  const { app, key, data_dir } = await startShop();
  await upload(app, key, 'x');
  const before = [dumpRows(data_dir), namesIn(data_dir)];
  const idle = await doctor(data_dir);
  expect([idle.exit, idle.status, idle.bad]).toEqual([0, 'ok', []]);
  expect(idle.ok).toContain('server: It does not run.');
  expect(idle.ok.filter((line) => line.startsWith('sealed values'))).toEqual([
    'sealed values: Each decrypts.',
  ]);
  expect(idle.ok).toContain('objects: Stored: 1, each with its bytes.');
  expect([dumpRows(data_dir), namesIn(data_dir)]).toEqual(before);
  const lock = lockDirectory(data_dir, process.pid);
  const served = await doctor(data_dir);
  lock.release();
  expect(served.ok).toContain(`server: It runs, as process ${process.pid}.`);
});

test('a place without a deployment is called that, and nothing is made there', async () => {
  const missing = join(makeTempDir(), 'missing');
  expect((await doctor(missing)).bad).toEqual([
    expect.stringContaining('problem data directory: There is no directory'),
  ]);
  expect(existsSync(missing)).toBe(false);
  const empty = makeTempDir();
  const report = await doctor(empty);
  expect([report.exit, report.bad, namesIn(empty)]).toEqual([
    1,
    [expect.stringContaining('holds no database')],
    [],
  ]);
});

test('files that others may read are found, and not silently mended', async () => {
  const { app, key, data_dir } = await startShop();
  const id = await uploadFile(app, key, 'x');
  for (const path of [join(data_dir, 'satchel.db'), join(data_dir, 'master.key'), blobPath(data_dir, id)])
    chmodSync(path, 0o644);
  chmodSync(data_dir, 0o755);
  const { exit, bad } = await doctor(data_dir);
  expect(exit).toBe(1);
  expect(bad).toContainEqual(
    expect.stringMatching(/^problem file modes: .*satchel\.db.* -> chmod -R go-rwx /),
  );
  expect(bad).toContainEqual(expect.stringMatching(/^problem master key: .*mode 0644.* -> chmod 600 /));
  expect(bad).toContainEqual(expect.stringMatching(/^problem objects: .*may read: 1\./));
  expect([modeOf(data_dir), modeOf(join(data_dir, 'satchel.db'))]).toEqual(['755', '644']);
});

test('objects without bytes, or with bytes of another size, are named; files without a row are counted', async () => {
  const { app, key, data_dir } = await startShop();
  const [lost, cut] = [await uploadFile(app, key, 'lost'), await uploadFile(app, key, 'cut')];
  const [gone, short] = [await upload(app, key, 'gone'), await upload(app, key, 'short')];
  const number = '(SELECT id FROM objects WHERE public_id = ?)';
  sql(data_dir, `DELETE FROM object_contents WHERE object_id = ${number}`, gone);
  sql(data_dir, `UPDATE object_contents SET bytes = x'00' WHERE object_id = ${number}`, short);
  rmSync(blobPath(data_dir, lost));
  writeFileSync(blobPath(data_dir, cut), 'c');
  mkdirSync(join(data_dir, 'objects', 'ZZ'), { recursive: true, mode: 0o700 });
  writeFileSync(join(data_dir, 'objects', 'ZZ', '01ARZ3NDEKTSV4RRFFQ69G5FZZ'), 'x', { mode: 0o600 });
  const { bad, ok } = await doctor(data_dir);
  expect(bad).toEqual([
    expect.stringContaining(`problem objects: 2 objects have lost their bytes: ${lost}, ${gone}.`),
    expect.stringContaining(
      `problem objects: 2 objects have bytes of another size than their rows tell of: ${cut}, ${short}.`,
    ),
  ]);
  expect(ok).toContainEqual(expect.stringContaining('Files of no row: 1.'));
});

test('what does not decrypt is named one by one: copies of keys, vault values, data keys', async () => {
  const { app, data_dir } = await startShop();
  const project = app.services.projects.require('shop');
  const vault = app.services.vault;
  const { requireVaultService } = await import('../../../src/secrets/vault/registry.ts');
  await vault.set(actor, project, requireVaultService('stripe'), { secret_key: 'sk', webhook_secret: 'wh' });
  sql(
    data_dir,
    "UPDATE vault_values SET sealed = (SELECT sealed_key FROM api_keys) WHERE field = 'secret_key'",
  );
  sql(data_dir, "UPDATE api_keys SET sealed_key = sealed_key || 'AAAA'");
  const { exit, bad } = await doctor(data_dir);
  expect(exit).toBe(1);
  expect(bad).toEqual([
    expect.stringContaining(
      'The copy of API key 1 of project shop does not decrypt. -> satchel key rotate 1',
    ),
    expect.stringContaining(
      'The vault value stripe.secret_key of project shop does not decrypt. -> satchel vault set --project shop stripe secret_key=-',
    ),
  ]);
  sql(data_dir, "UPDATE data_keys SET wrapped = 'w1.0000000000000000.AAAA'");
  const worse = (await doctor(data_dir)).bad;
  expect(worse).toContainEqual(
    expect.stringContaining(`problem data keys: The data key of project:${project.public_id} does not open`),
  );
  expect(worse).toContainEqual(
    expect.stringContaining('Values of vault_values.sealed that are sealed under no data key that opens: 2.'),
  );

  await app.stop();
  const { services, stop } = await startTestApp({ data_dir });
  await services.keys.rotate(actor, services.keys.require('1'));
  const secrets = { secret_key: 'sk', webhook_secret: 'wh' };
  await services.vault.set(actor, project, requireVaultService('stripe'), secrets);
  expect((await doctor(data_dir)).bad.filter((line) => line.includes(project.public_id))).toEqual([]);
  expect(services.vault.listUndecryptable(project)).toEqual([]);
  await stop();
});

test('secrets of provider accounts that do not decrypt are named one by one', async () => {
  const { app, data_dir } = await startShop();
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], expires_in_days: 1 },
    capabilities: ['can_manage_database', 'can_write_vault'],
  });
  const url = '/api/public/v1';
  for (const [path, body] of [
    ['/database-accounts', { name: 'Main', access_token: 'a' }],
    ['/database-projects', { name: 'Live', ref: 'r', secret_key: 's', db_password: 'p' }],
    ['/ai-accounts', { name: 'Team', provider: 'openai', api_key: 'k' }],
    ['/ai-accounts', { name: 'Sound', provider: 'openai', api_key: 'k' }],
  ] as const)
    expect([path, (await app.call('POST', url + path, { token, body })).status]).toEqual([path, 201]);
  expect((await doctor(data_dir)).bad).toEqual([]);
  sql(
    data_dir,
    'UPDATE database_accounts SET sealed_access_token = (SELECT sealed_api_key FROM ai_accounts)',
  );
  sql(data_dir, 'UPDATE database_projects SET sealed_db_password = sealed_secret_key');
  sql(data_dir, "UPDATE ai_accounts SET sealed_api_key = sealed_api_key || 'AAAA' WHERE name = 'Team'");
  const again = `does not decrypt. -> store it again: PATCH ${url}`;
  expect((await doctor(data_dir)).bad).toEqual([
    `problem sealed values: The access_token of the database account 1 (Main) ${again}/database-accounts/1 with access_token`,
    `problem sealed values: The db_password of the database project 1 (Live) ${again}/database-projects/1 with db_password`,
    `problem sealed values: The api_key of the ai account 1 (Team) ${again}/ai-accounts/1 with api_key`,
  ]);
});

test("a relay's password that does not decrypt is told apart from the DKIM key of a domain", async () => {
  const { app, data_dir } = await startShop();
  const { sending_domains, mailboxes } = app.services;
  for (const name of ['one.test', 'two.test'])
    await sending_domains.add(actor, { name, is_default: false, is_trusted: true });
  const relay = {
    host: '127.0.0.1',
    port: 2525,
    security: 'opportunistic',
    username: 'u',
    password: 'p',
    signs: false,
  } as const;
  for (const address of ['a@one.test', 'b@one.test', 'c@two.test'])
    await mailboxes.add(actor, { address, relay });
  await sending_domains.rotateDkim(actor, 'one.test');
  sql(
    data_dir,
    "UPDATE sending_domains SET next_sealed_dkim_private_key = 's1.99.AAAA' WHERE name = 'one.test'",
  );
  expect((await doctor(data_dir)).bad).toContainEqual(
    expect.stringContaining(
      'Values of sending_domains.next_sealed_dkim_private_key that are sealed under no',
    ),
  );
  sql(
    data_dir,
    "UPDATE mailboxes SET sealed_smtp_password = sealed_smtp_password || 'AAAA' WHERE address = 'a@one.test'",
  );
  sql(
    data_dir,
    "UPDATE sending_domains SET sealed_dkim_private_key = sealed_dkim_private_key || 'AAAA' WHERE name = 'two.test'",
  );
  const lost = (await doctor(data_dir)).bad.filter((line) => line.includes('sealed values'));
  expect(lost).toEqual([
    expect.stringMatching(
      /^problem sealed values: The DKIM key of the domain two\.test does not decrypt.* -> satchel domain remove two\.test --yes, then /,
    ),
    "problem sealed values: The relay's password of the mailbox a@one.test does not decrypt. -> satchel mailbox change a@one.test --smtp -",
  ]);
});

test('commands that are named can be pasted: for the directory that was asked about, whatever its name', async () => {
  const data_dir = join(makeTempDir(), "the team's data");
  const clock = new TestClock(new Date().toISOString());
  const app = await startTestApp({ data_dir, clock });
  await (await makeProject(app)).key();
  sql(data_dir, "UPDATE api_keys SET sealed_key = sealed_key || 'AAAA'");
  const left = join(data_dir, 'replaced-20300101T000000Z');
  mkdirSync(left, { mode: 0o700 });
  chmodSync(data_dir, 0o755);
  const { stdout } = await runWith({}, 'doctor', '--data-dir', data_dir);
  const commands = [...stdout.matchAll(/-> (.*)/g)].map(([, command = '']) => command);
  const [serve, chmod, remove, rotate] = commands;
  expect(serve).toBe(`satchel --data-dir '${data_dir.replace("'", "'\\''")}' serve`);
  for (const command of [chmod, remove]) {
    const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', String(command)]);
    expect([command, exitCode, stderr.toString()]).toEqual([command, 0, '']);
  }
  expect([modeOf(data_dir), existsSync(left)]).toEqual(['700', false]);
  expect(rotate).toEndWith(' key rotate 1');
  await app.stop();
  const run_it = `satchel() { ${satchelCommand().join(' ')} "$@"; }; ${rotate}`;
  expect(Bun.spawnSync(['sh', '-c', run_it], { env: {} }).exitCode).toBe(0);
  const again = await runWith({}, 'doctor', '--data-dir', data_dir);
  expect([again.exit, again.stdout]).toEqual([0, expect.not.stringContaining('key rotate')]);
});

test('a master key that does not fit is told apart from one that is missing', async () => {
  const { app, data_dir } = await startShop();
  await app.stop();
  const key = join(data_dir, 'master.key');
  copyFileSync(key, join(data_dir, 'kept'));
  writeFileSync(key, Buffer.alloc(32).toString('base64'), { mode: 0o600 });
  expect((await doctor(data_dir)).bad).toEqual([
    expect.stringMatching(/^problem master key: .* gives the key .* is needed\./),
  ]);
  rmSync(key);
  expect((await doctor(data_dir)).bad).toEqual([
    expect.stringMatching(/^problem master key: .* is missing; the key [0-9a-f]{16} is needed\./),
  ]);
  expect(existsSync(key)).toBe(false);
});

test('pending migrations are a warning, a newer database and a broken one are problems', async () => {
  const { app, data_dir } = await startShop();
  await app.stop();
  sql(data_dir, "INSERT INTO schema_migrations VALUES (999, 'later', 'x', 1)");
  expect((await doctor(data_dir)).bad).toEqual([
    expect.stringContaining('problem schema: The database was written by a newer Satchel'),
  ]);
  sql(data_dir, 'DELETE FROM schema_migrations');
  expect((await doctor(data_dir)).bad).toEqual([
    expect.stringMatching(/^warning schema: Migrations are pending: 1 .* -> satchel migrate$/),
  ]);
  expect(dumpRows(data_dir).schema_migrations).toEqual([]);
  const broken = makeTempDir();
  writeFileSync(join(broken, 'satchel.db'), 'x'.repeat(5000), { mode: 0o600 });
  expect((await doctor(broken)).bad).toContainEqual(
    expect.stringMatching(/^problem schema: .*not a database/),
  );
});

test('a clock that went back is found', async () => {
  const { app, key, data_dir } = await startShop();
  app.clock.advance(3_600_000);
  await upload(app, key, 'from the future');
  expect((await doctor(data_dir)).bad).toEqual([expect.stringMatching(/^problem clock: .* -> timedatectl/)]);
});

test('mail that failed, relays that rest, limits that are used up and domains without records are warned of', async () => {
  const { app, data_dir } = await startShop();
  const { sending_domains, mailboxes } = app.services;
  for (const [name, is_trusted] of [
    ['shop.test', true],
    ['new.test', false],
  ] as const) {
    await sending_domains.add(actor, { name, is_default: false, is_trusted });
  }
  const mailbox = {
    relay: RELAY,
    daily_limit: 1,
    for_transactional: true,
    for_marketing: false,
    return_path: null,
  };
  for (const name of ['a', 'b', 'c'])
    await mailboxes.add(actor, { ...mailbox, address: `${name}@shop.test` });
  sql(
    data_dir,
    "UPDATE mailboxes SET failures = 4, resting_until = ?, last_error = 'refused' WHERE address = 'a@shop.test'",
    Date.now() + 60_000,
  );
  const { utcDay } = await import('../../../src/platform/host/clock.ts');
  sql(
    data_dir,
    "INSERT INTO mailbox_usage SELECT id, ?, 1 FROM mailboxes WHERE address = 'b@shop.test'",
    utcDay(Date.now()),
  );
  sql(
    data_dir,
    // Of four that failed number 1 is a test key's: nobody waits for it.
    `INSERT INTO emails (id, project_id, is_test, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
     SELECT value, 1, value = 1, 'api', 'failed', 'a', 'b', 'c', 's', 'm', 1, ? FROM json_each('[0, 1, 2, 3]')`,
    Date.now() - 1000,
  );
  // Number 2 was sent while its client waited.
  sql(
    data_dir,
    `INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, attempts, max_attempts, interruptions, payload, queued_at)
     VALUES ('J', 1, 'email.send', 'failed', 0, 'email.send:*', 0, 1, 1, 0, '{}', 1)`,
  );
  sql(data_dir, "UPDATE emails SET job_id = 'J' WHERE id = '2'");
  const { exit, bad, ok } = await doctor(data_dir);
  expect(exit).toBe(1);
  expect(bad).toContainEqual(
    expect.stringMatching(
      /^problem mailboxes: a@shop\.test could not be used 4 times.*refused -> satchel mailbox test/,
    ),
  );
  expect(bad).toContainEqual(
    expect.stringMatching(/^warning mailboxes: b@shop\.test has reached its daily limit of 1;/),
  );
  expect(ok).toContainEqual(expect.stringContaining('c@shop.test works'));
  expect(bad).toContainEqual(
    expect.stringMatching(
      /^problem sending domains: new\.test is not verified.* -> satchel domain verify new\.test$/,
    ),
  );
  for (const record of ['SPF', 'DKIM', 'DMARC']) {
    expect(bad).toContainEqual(
      expect.stringContaining(`warning sending domains: shop.test, ${record}: There is no such`),
    );
  }
  expect(bad).toContainEqual(
    expect.stringMatching(
      /^warning failed emails: 3 failed .*, 1 of them sent while their client waited.* -> satchel email retry --failed --since 20/,
    ),
  );
}, 60_000);

test('for a log-in that a relay refused the command is named that gives the mailbox another password', async () => {
  const { app, data_dir } = await startShop();
  const { sending_domains, mailboxes } = app.services;
  await sending_domains.add(actor, { name: 'shop.test', is_default: false, is_trusted: true });
  await mailboxes.add(actor, { address: 'a@shop.test', relay: null });
  sql(data_dir, "UPDATE mailboxes SET failures = 1, last_error = '535 5.7.8 bad credentials'");
  expect((await doctor(data_dir)).bad).toContainEqual(
    expect.stringMatching(
      /^warning mailboxes: a@shop\.test could not be used the last time.* -> satchel mailbox change a@shop\.test --smtp -$/,
    ),
  );
});

test('where a retry of all failed emails would leave out every one, it is named one by one', async () => {
  const { data_dir } = await startShop();
  const now_ms = Date.now();
  sql(
    data_dir,
    `INSERT INTO emails (id, project_id, status, source, from_email, domain, to_email, subject, message_id, created_at,
       failed_at, quota_day)
     VALUES ('0', 1, 'failed', 'api', 'a@shop.test', 'shop.test', 'b@c.test', 's', 'm', ${now_ms}, ${now_ms}, '2030-01-01')`,
  );
  sql(
    data_dir,
    `INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, attempts, max_attempts, interruptions, payload, queued_at)
     VALUES ('J', 1, 'email.send', 'failed', 0, 'email.send:transactional:1', 0, 1, 1, 0, '{}', 1)`,
  );
  sql(data_dir, "UPDATE emails SET job_id = 'J'");
  const { bad } = await doctor(data_dir);
  expect(bad).toContainEqual(
    expect.stringMatching(
      /^warning failed emails: 1 failed .*, 1 of them sent while .* -> satchel email retry ID$/,
    ),
  );
});

test('of two things that a check finds each has an id of its own', async () => {
  const { app, data_dir } = await startShop();
  const { sending_domains, mailboxes, people, projects, webhooks } = app.services;
  for (const n of [1, 2]) {
    await sending_domains.add(actor, { name: `kept${n}.test`, is_trusted: true });
    await mailboxes.add(actor, { address: `a@kept${n}.test`, relay: null });
    await people.add(actor, null, { email: `p${n}@shop.test`, all_projects: true });
    const project = await projects.create(actor, { name: `s${n}`, slug: `s${n}` });
    await webhooks.create(project, { url: 'https://hooks.example.com/x' }, () => {});
    mkdirSync(join(data_dir, `replaced-${n}`), { mode: 0o700 });
  }
  const now = Date.now();
  sql(data_dir, "UPDATE webhooks SET disabled_reason = 'gone', is_active = 0");
  sql(data_dir, "UPDATE projects SET link_domain = slug || '.example.com', link_domain_status = 'failing'");
  sql(
    data_dir,
    `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
     SELECT value, 1, 'api', value, 'a@b.test', 'b.test', 'c@d.test', 's', 'm', 1, ? FROM json_each('["failed", "unknown"]')`,
    now,
  );
  sql(
    data_dir,
    `INSERT INTO email_reports (email_id, kind, address, words, reported_at, mailbox)
     SELECT id, 'refused', 'c@d.test', 'no', ?, id || '@b.test' FROM emails`,
    now,
  );
  sql(
    data_dir,
    `INSERT INTO inboxes (mailbox_id, version, host, port, security, username, sealed_password, folder, last_uid, unflagged,
       reports, skipped, last_skipped, unread, last_unread)
     SELECT id, '', 'imap.test', 993, 'tls', 'u', 'x', 'INBOX', 1, '[]', 0, 1, json_array(json_object('uid', 1, 'at', ?1)), 1,
       json_array(json_object('at', ?2, 'subject', 's', 'reason', 'broken')) FROM mailboxes`,
    now,
    new Date(now).toISOString(),
  );
  sql(data_dir, 'UPDATE people SET wrong_codes = 9');
  sql(
    data_dir,
    `INSERT INTO person_passkeys (id, credential_id, person_id, name, host, public_key, counter, backed_up, created_at, suspected_at)
     SELECT id, id, id, 'Key', 'old.test', '', 0, 0, 1, 1 FROM people`,
  );
  sql(
    data_dir,
    `INSERT INTO audit_events (id, at, actor_kind, actor_name, event, metadata)
     SELECT id, ?, 'system', 's', 'person.sign_in_failed',
       json_object('email', email, 'count', 9, 'locked_out', json('true'), 'networks', json('[]')) FROM people`,
    now,
  );
  const { bad, ok } = await doctor(data_dir);
  const told = Map.groupBy(
    [...bad, ...ok],
    (line) => line.replace(/^(?:warning|problem) /, '').split(':')[0],
  );
  expect(Object.fromEntries([...told].map(([check, lines]) => [check, lines.length]))).toMatchObject({
    ...{ 'sending domains': 2, webhooks: 2, 'link domains': 3, 'failed emails': 2, 'refusals in reports': 2 },
    ...{ inboxes: 6, 'failed sign-ins': 4, passkeys: 4, leftovers: 2, mailboxes: 2 },
  });
});

test('a domain whose records are in place is ok', async () => {
  const { app, data_dir } = await startShop();
  const { records } = await app.services.sending_domains.add(actor, { name: 'mail.test', is_trusted: true });
  for (const { name, value } of records) dns.set(name, { txt: [value] });
  const { bad, ok } = await doctor(data_dir);
  expect(bad).toEqual([]);
  expect(ok).toContain('sending domains: mail.test: SPF, DKIM and DMARC are in place.');
});

test('a captcha secret that passes everybody is warned of', async () => {
  const { app, data_dir } = await startShop();
  const { requireVaultService } = await import('../../../src/secrets/vault/registry.ts');
  const project = app.services.projects.require('shop');
  await app.services.vault.set(actor, project, requireVaultService('captcha'), {
    secret_key: '1x0000000000000000000000000000000AA',
  });
  expect((await doctor(data_dir)).bad).toEqual([
    expect.stringMatching(/^warning captcha: .* -> satchel vault set --project shop captcha secret_key=-$/),
  ]);
});

test('the worst finding is the status', () => {
  const finding = { check: 'x', message: '', remedy: null };
  expect(worstOf([{ ...finding, status: 'ok' }])).toBe('ok');
  expect(
    worstOf([
      { ...finding, status: 'ok' },
      { ...finding, status: 'warning' },
    ]),
  ).toBe('warning');
  expect(
    worstOf([
      { ...finding, status: 'problem' },
      { ...finding, status: 'warning' },
    ]),
  ).toBe('problem');
});

test('a domain whose mail is captured needs no records, until it has a relay', async () => {
  const { app, data_dir } = await startShop();
  await app.services.sending_domains.add(actor, { name: 'shop.test', is_trusted: true });
  await app.services.mailboxes.add(actor, { address: 'a@shop.test', relay: null });
  expect((await doctor(data_dir)).bad).toEqual([]);
  await app.services.mailboxes.add(actor, { address: 'b@shop.test', relay: RELAY });
  expect((await doctor(data_dir)).bad).toContainEqual(
    expect.stringContaining('shop.test, SPF: There is no such'),
  );
});

test("what systemd ignores of the service's settings is warned of by its line, and not by its text", async () => {
  const { data_dir } = await startShop();
  const settings = join(makeTempDir(), 'satchel.env');
  writeFileSync(settings, '# \\\nSATCHEL_ENV=a\nexport SATCHEL_PASSPHRASE=hush\n');
  const lookAt = async (installed: string) => {
    const { stdout } = await satchel(['doctor', '--data-dir', data_dir], {
      installed: { SATCHEL_DATA_DIR: installed },
      settings,
    });
    return stdout;
  };
  const told = await lookAt(data_dir);
  expect(told).toContain(`WARNING  settings: systemd ignores what it can't read in ${settings}: line 3 (`);
  expect(told).toContain('line 2 (');
  expect(told).not.toContain('hush');
  expect(await lookAt(makeTempDir())).not.toContain('WARNING  settings');
});

test('an empty hidden file that holds the place of the folder is nothing to complain of', async () => {
  const { data_dir } = await startShop();
  writeFileSync(join(data_dir, '.gitkeep'), '', { mode: 0o644 });
  chmodSync(join(data_dir, '.gitkeep'), 0o644);
  expect((await doctor(data_dir)).bad).toEqual([]);
  writeFileSync(join(data_dir, '.gitkeep'), 'not empty');
  expect((await doctor(data_dir)).bad).toEqual([expect.stringContaining('problem file modes: ')]);
});
