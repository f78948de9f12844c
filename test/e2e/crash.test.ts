/** kill -9 in the middle of uploads and of mail, again and again: nothing that was acknowledged may be missing. */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startSmtpSink, subjectOf, waitForSubjects } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { addMailbox, makeKey, startServer, storedFiles, upload } from './binary.ts';

setDefaultTimeout(120_000);
const ROUNDS = 3;
const ROOM = { SATCHEL_UPLOADS_PER_MINUTE: '1000000' };

describe('kill -9', () => {
  test('in the middle of uploads loses no acknowledged file and leaves no partial one', async () => {
    const dir = makeTempDir();
    let server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url } = server;
      let is_down = false;
      const has_enough = Promise.withResolvers<void>();
      const enough = acknowledged.size + 20 * (round + 1);
      const uploaders = Array.from({ length: 8 }, async (_, worker) => {
        for (let n = 0; !is_down; n += 1) {
          // In turns for the database and for a file.
          const bytes = `${round} ${worker} ${n} `.repeat(n % 2 === 0 ? 2_000 : 12_000);
          const stored = await upload(url, key, bytes);
          if (stored?.status === 201) acknowledged.set(stored.public_id, bytes);
          if (stored === null) return;
          if (acknowledged.size >= enough) has_enough.resolve();
        }
      });
      await has_enough.promise;
      await server.end('SIGKILL');
      is_down = true;
      await Promise.all(uploaders);
      server = await startServer(dir, ROOM);
    }
    for (const [id, bytes] of acknowledged) {
      const response = await fetch(`${server.url}/api/v1/objects/${id}`);
      expect([response.status, (await response.text()) === bytes]).toEqual([200, true]);
    }
    expect(acknowledged.size).toBeGreaterThan(ROUNDS);
    // What is on disk is exactly what has a row, once the sweep of the last start is through.
    const db = new Database(join(dir, 'satchel.db'), { readonly: true });
    const rows = db
      .query("SELECT public_id FROM objects WHERE store = 'local' ORDER BY public_id")
      .values()
      .map(([id]) => String(id));
    const [held] = db.query("SELECT count(*) FROM objects WHERE store = 'database'").values();
    expect(db.query('SELECT count(*) FROM object_contents').values()).toEqual([held ?? []]);
    db.close();
    expect(Math.min(rows.length, Number(held?.[0]))).toBeGreaterThan(ROUNDS);
    await until(() => storedFiles(dir).length === rows.length);
    await server.end('SIGTERM');
    expect(storedFiles(dir)).toEqual(rows);
  });

  test('in the middle of sending loses no acknowledged mail and repeats only what was in flight', async () => {
    const sink = await startSmtpSink();
    const dir = makeTempDir();
    let server = await startServer(dir);
    const key = await makeKey(dir);
    await addMailbox(dir, sink.port);
    const acknowledged = new Set<string>();
    let in_flight_at_kills = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url } = server;
      let is_down = false;
      const has_enough = Promise.withResolvers<void>();
      const enough = acknowledged.size + 20 * (round + 1);
      const senders = Array.from({ length: 4 }, async (_, worker) => {
        for (let n = 0; !is_down; n += 1) {
          const subject = `mail-${round}-${worker}-${n}`;
          const response = await fetch(`${url}/api/v1/emails/send`, {
            method: 'POST',
            headers: { 'X-API-Key': key },
            body: JSON.stringify({ to: 'ann@example.org', subject, body_text: 'hello' }),
          }).catch(() => null);
          if (response?.status === 202) acknowledged.add(subject);
          if (response === null) return;
          if (acknowledged.size >= enough) has_enough.resolve();
        }
      });
      await has_enough.promise;
      await server.end('SIGKILL');
      is_down = true;
      await Promise.all(senders);
      const db = new Database(join(dir, 'satchel.db'));
      in_flight_at_kills += Number(
        db.query("SELECT count(*) FROM jobs WHERE status = 'processing'").values()[0]?.[0],
      );
      db.close();
      server = await startServer(dir);
    }
    await waitForSubjects(sink, acknowledged);
    const duplicates = sink.mails.length - new Set(sink.mails.map(subjectOf)).size;
    expect(duplicates).toBeLessThanOrEqual(in_flight_at_kills);
    // A repeated mail is the same mail: one Message-ID for all its attempts.
    const ids = new Map<string, Set<string>>();
    for (const mail of sink.mails) {
      const subject = subjectOf(mail);
      const id = /^Message-ID: (\S+)/im.exec(mail.raw.toString())?.[1] ?? '';
      ids.set(subject, (ids.get(subject) ?? new Set()).add(id));
    }
    expect([...ids.values()].every((set) => set.size === 1 && !set.has(''))).toBe(true);
    expect(await server.end('SIGTERM')).toBe(0);
    await sink.stop();
  });
});
