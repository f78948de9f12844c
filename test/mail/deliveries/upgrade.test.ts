/** A database of before refusals of us stood apart: what was reported, why sequences paused, whom a lifting would give back what. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../../src/platform/database/migrate.ts';
import { makeTempDir } from '../../support/temp.ts';

test('the upgrade keeps reports, pauses and everybody, and whoever had not confirmed is known as such', () => {
  const path = join(makeTempDir(), 'satchel.db');
  migrate(path, { now_ms: 1, migrations: MIGRATIONS.filter(({ version }) => version < 33) });
  const db = new Sqlite(path);
  db.run('PRAGMA foreign_keys = ON');
  db.run(
    `INSERT INTO projects (id, public_id, slug, name, created_at, updated_at) VALUES (1, 'P', 'shop', 'Shop', 1, 1)`,
  );
  for (const [id, double_opt_in] of [
    [1, 1],
    [2, 0],
  ] as const)
    db.run(
      `INSERT INTO contact_lists (id, public_id, project_id, name, double_opt_in, created_at, updated_at)
       VALUES (?1, ?1, 1, 'News', ?2, 1, 1)`,
      [id, double_opt_in],
    );
  const CONTACTS: [
    name: string,
    list: number,
    platform: string,
    confirmed_at: number | null,
    status: string,
  ][] = [
    ['unconfirmed', 1, 'form', null, 'bounced'],
    ['confirmed', 1, 'form', 5, 'bounced'],
    ['imported', 1, 'csv', null, 'bounced'],
    ['single', 2, 'form', null, 'bounced'],
    ['waiting', 1, 'form', null, 'pending'],
  ];
  for (const [name, list_id, platform, confirmed_at, status] of CONTACTS)
    db.run(
      `INSERT INTO contacts (public_id, project_id, list_id, email, status, contact_token, consent_basis, consent_at, source_platform,
         confirmed_at, status_changed_at, created_at, updated_at)
       VALUES (?1, 1, ?2, ?1, ?3, ?1, 'consent', 1, ?4, ?5, 1, 1, 1)`,
      [name, list_id, status, platform, confirmed_at],
    );
  for (const [id, pause_reason] of [
    [1, null],
    [2, 'manual'],
    [3, 'bounce_threshold'],
  ] as const)
    db.run(
      `INSERT INTO sequences (id, public_id, project_id, list_id, name, status, pause_reason, max_recipients, created_at, updated_at)
       VALUES (?1, ?1, 1, 1, 'S', 'paused', ?2, 9, 1, 1)`,
      [id, pause_reason],
    );
  db.run(
    `INSERT INTO enrollments (id, public_id, sequence_id, contact_id, state, track, step, counts_from, enrolled_at)
     VALUES (1, 'E', 3, 1, 'active', 'main', 'a', 1, 1)`,
  );
  db.run(
    `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at)
     VALUES ('M', 1, 'api', 'bounced', 'f', 'd', 'ann', 's', 'm', 1)`,
  );
  const REPORT = `INSERT INTO email_reports (email_id, kind, address, words, reported_at) VALUES ('M', ?, 'ann', 'w', 7)`;
  for (const kind of ['soft_bounced', 'bounced']) db.run(REPORT, [kind]);
  db.run(
    "INSERT INTO suppressions (id, project_id, hash, kind, created_at) VALUES ('X', 1, 'h', 'hard_bounce', 1)",
  );
  db.close();

  migrate(path, { now_ms: 2 });
  const after = new Sqlite(path);
  const all = (query: string): unknown[] => after.query(query).all();
  expect(all('SELECT id, kind, words FROM email_reports ORDER BY id')).toEqual([
    { id: 1, kind: 'soft_bounced', words: 'w' },
    { id: 2, kind: 'bounced', words: 'w' },
  ]);
  after.run(REPORT, ['refused']);
  expect(() => after.run(REPORT, ['nonsense'])).toThrow('CHECK');
  expect(all('SELECT max(id) AS id FROM email_reports')).toEqual([{ id: 3 }]);
  expect(all('SELECT id, pause_reason FROM sequences ORDER BY id')).toEqual([
    { id: 1, pause_reason: null },
    { id: 2, pause_reason: 'manual' },
    { id: 3, pause_reason: 'bounce_threshold' },
  ]);
  after.run("UPDATE sequences SET pause_reason = 'relay_refuses' WHERE id = 1");
  expect(() => after.run("UPDATE sequences SET pause_reason = 'nonsense' WHERE id = 1")).toThrow('CHECK');
  expect(all('SELECT id FROM enrollments')).toEqual([{ id: 1 }]);
  expect(all('SELECT email, status_before_bounce AS had FROM contacts ORDER BY id')).toEqual([
    { email: 'unconfirmed', had: 'pending' },
    ...['confirmed', 'imported', 'single', 'waiting'].map((email) => ({ email, had: null })),
  ]);
  expect(all('SELECT id, mailbox FROM suppressions')).toEqual([{ id: 'X', mailbox: null }]);
  after.close();
});
