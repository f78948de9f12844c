/** A database of before enrollments waited for the end of their mail: its numbers, and who goes on when. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../../src/platform/database/migrate.ts';
import { makeTempDir } from '../../support/temp.ts';

const STATUSES = {
  waits: 'queued',
  sent: 'sent',
  failed: 'failed',
  refused: 'bounced',
  returned: 'bounced',
  last: 'sending',
} as const;

test('the upgrade has waiting enrollments wait for their mail, and every mail is sent, lost or waiting', () => {
  const path = join(makeTempDir(), 'satchel.db');
  migrate(path, { now_ms: 1, migrations: MIGRATIONS.filter(({ version }) => version < 35) });
  const db = new Sqlite(path);
  db.run(
    `INSERT INTO projects (id, public_id, slug, name, created_at, updated_at) VALUES (1, 'P', 'shop', 'Shop', 1, 1)`,
  );
  db.run(
    `INSERT INTO contact_lists (id, public_id, project_id, name, created_at, updated_at) VALUES (1, 'L', 1, 'News', 1, 1)`,
  );
  db.run(`INSERT INTO sequences (id, public_id, project_id, list_id, name, status, max_recipients, created_at, updated_at)
    VALUES (1, 'S', 1, 1, 'Welcome', 'active', 9, 1, 1)`);
  Object.entries(STATUSES).forEach(([name, status], n) => {
    db.run(
      `INSERT INTO contacts (id, public_id, project_id, list_id, email, status, contact_token, consent_basis, consent_at, source_platform,
         status_changed_at, created_at, updated_at)
       VALUES (?1, ?2, 1, 1, ?2, 'active', ?2, 'consent', 1, 'api', 1, 1, 1)`,
      [n + 1, name],
    );
    db.run(
      `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at)
       VALUES (?1, 1, 'sequence', 'queued', 'f', 'd', ?1, 's', ?1, 1)`,
      [name],
    );
    const is_last = name === 'last';
    db.run(
      `INSERT INTO enrollments (id, public_id, sequence_id, contact_id, state, track, step, counts_from, next_at,
         last_email_id, enrolled_at, ended_at)
       VALUES (?1, ?2, 1, ?1, ?3, 'main', 'b', 1, ?4, ?2, 1, ?5)`,
      [n + 1, name, is_last ? 'completed' : 'active', is_last ? null : 50, is_last ? 40 : null],
    );
    db.run('INSERT INTO sequence_mails (email_id, sequence_id, enrollment_id, step) VALUES (?, 1, ?, ?)', [
      ...[name, n + 1, is_last ? 'b' : 'a'],
    ]);
    const moments = {
      ...{
        sent_at: ['sent', 'returned'].includes(name) ? 20 : null,
        failed_at: name === 'failed' ? 21 : null,
      },
      bounced_at: status === 'bounced' ? 22 : null,
    };
    db.run('UPDATE emails SET status = ?, sent_at = ?, failed_at = ?, bounced_at = ? WHERE id = ?', [
      ...[status, moments.sent_at, moments.failed_at, moments.bounced_at, name],
    ]);
    // As the version before wrote it: what bounced counted as sent, whoever refused it.
    db.run('UPDATE sequence_mails SET sent_at = ?, bounced_at = ? WHERE email_id = ?', [
      ...[moments.sent_at ?? moments.bounced_at, moments.bounced_at, name],
    ]);
  });
  db.run("DELETE FROM enrollments WHERE public_id = 'sent'");
  db.close();

  migrate(path, { now_ms: 2 });
  const after = new Sqlite(path);
  const countsOf = (step: string) =>
    Object.fromEntries(
      after
        .query<{ what: string; n: number }, [string]>(
          'SELECT what, sum(n) AS n FROM sequence_counts WHERE step = ? GROUP BY what HAVING sum(n) <> 0 ORDER BY what',
        )
        .all(step)
        .map(({ what, n }) => [what, n]),
    );
  expect(countsOf('a')).toEqual({ bounced: 2, lost: 2, sent: 2, waiting: 1 });
  expect(countsOf('b')).toEqual({ active: 5, waiting: 1 });
  expect(countsOf('')).toEqual({ active: 5 });
  const rows = after
    .query('SELECT public_id, state, next_at, waits_for, ended_at FROM enrollments ORDER BY id')
    .values();
  expect(rows).toEqual([
    ['waits', 'active', null, 'waits', null],
    ['failed', 'active', 50, null, null],
    ['refused', 'active', 50, null, null],
    ['returned', 'active', 50, null, null],
    ['last', 'active', null, 'last', null],
  ]);
  expect(
    after.query('SELECT email_id, sent_at, ended_at FROM sequence_mails ORDER BY email_id').values(),
  ).toEqual([
    ['failed', null, 21],
    ['last', null, null],
    ['refused', null, 22],
    ['returned', 20, 20],
    ['sent', 20, 20],
    ['waits', null, null],
  ]);
  // No id is given twice.
  after.run('DELETE FROM enrollments WHERE id = 6');
  after.run(`INSERT INTO enrollments (public_id, sequence_id, contact_id, is_test, state, track, step, counts_from, enrolled_at)
    VALUES ('new', 1, 1, 1, 'active', 'main', 'a', 1, 1)`);
  expect(after.query("SELECT id FROM enrollments WHERE public_id = 'new'").values()).toEqual([[7]]);
  after.close();
});
