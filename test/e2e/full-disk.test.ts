/** A full disk, on a small file system of its own: what is refused, what goes on, and that it heals by itself. */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSmtpSink, waitForSubjects } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { type Server, satchel, startServer, storedFiles } from './binary.ts';
import { canMount, DISK_MIB, fillDisk, freeDisk, holdRoom, startOnSmallDisk } from './small-disk.ts';

setDefaultTimeout(120_000);

interface Answer {
  status: number;
  retry_after: number;
  body: Record<string, unknown>;
}

async function call(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
  const body: unknown = await response.json();
  return {
    status: response.status,
    retry_after: Number(response.headers.get('retry-after')),
    body: typeof body === 'object' && body !== null ? { ...body } : {},
  };
}

function uploadBytes(server: Server, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-test' }), 'a.bin');
  form.set('visibility', 'public');
  return call(`${server.url}/api/v1/objects`, { method: 'POST', headers: { 'X-API-Key': key }, body: form });
}

function send(
  server: Server,
  key: string,
  subject: string,
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const body = JSON.stringify({ to: 'ann@example.org', subject, body_text: 'x'.repeat(20_000), ...more });
  return call(`${server.url}/api/v1/emails/send`, { method: 'POST', headers: { 'X-API-Key': key }, body });
}

const health = async (server: Server): Promise<[number, unknown, unknown]> => {
  const { status, body } = await call(`${server.url}/api/health`, {});
  return [status, body.status, body.database];
};

function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.body.success, answer.body.message]).toEqual([
    503,
    false,
    expect.stringContaining('disk'),
  ]);
  expect(answer.retry_after).toBeGreaterThan(0);
}

function storedRows(dir: string): unknown[] {
  const copy = makeTempDir();
  for (const file of ['satchel.db', 'satchel.db-wal']) cpSync(join(dir, file), join(copy, file));
  const db = new Database(join(copy, 'satchel.db'));
  try {
    return db
      .query('SELECT public_id FROM objects ORDER BY public_id')
      .values()
      .map(([id]) => id);
  } finally {
    db.close();
  }
}

describe.skipIf(!canMount)('a full disk', () => {
  test('refuses uploads and sends, goes on reading, keeps all that was acknowledged, and heals by itself', async () => {
    const sink = await startSmtpSink();
    const disk = await startOnSmallDisk({ SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
    const { server, dir, key } = disk;
    await disk.addMailbox(sink.port);
    holdRoom(dir);
    const stored = new Map<string, Buffer>();
    /** Of these, those in the database. */
    const held = new Set<string>();
    const inFiles = () => [...stored.keys()].filter((id) => !held.has(id)).sort();
    // Uploads until one is refused: of a size that fails in the middle of its bytes.
    let refused: Answer | null = null;
    for (let n = 0; n < 100 && !refused; n += 1) {
      const bytes = randomBytes(1_500_000);
      const answer = await uploadBytes(server, key, bytes);
      if (answer.status === 201) stored.set(String(answer.body.public_id), bytes);
      else refused = answer;
    }
    expect(stored.size).toBeGreaterThan(5);
    if (refused) expectUnavailable(refused);
    fillDisk(dir);
    for (const size of [0, 10, 100_000, 3_000_000]) {
      const answer = await uploadBytes(server, key, randomBytes(size));
      if (answer.status !== 201) expectUnavailable(answer);
      else {
        stored.set(String(answer.body.public_id), Buffer.alloc(0));
        if (size < 65_536) held.add(String(answer.body.public_id));
      }
    }
    const accepted: string[] = [];
    let sending: Answer | null = null;
    for (let n = 0; n < 300 && !sending; n += 1) {
      const answer = await send(server, key, `mail-${n}`);
      if (answer.status === 202) accepted.push(`mail-${n}`);
      else sending = answer;
    }
    if (!sending) throw new Error('no send was refused');
    expectUnavailable(sending);
    expectUnavailable(await send(server, key, 'sync', { queue: false }));
    expect(await health(server)).toEqual([200, 'degraded', 'ok']);
    // Nobody is to end it for that.
    const inside = dir.replace(`/proc/${server.pid}/root`, '');
    const wrap = ['nsenter', '-m', '-t', String(server.pid)];
    const asked = await satchel(['health', '--data-dir', inside], { wrap });
    expect([asked.exit, asked.stdout]).toEqual([0, 'degraded\n']);
    // Reads go on.
    for (const [id, bytes] of stored) {
      const response = await fetch(`${server.url}/api/v1/objects/${id}`);
      const got = Buffer.from(await response.arrayBuffer());
      expect([id, response.status, bytes.length === 0 || got.equals(bytes)]).toEqual([id, 200, true]);
    }
    const list = await call(`${server.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
    expect(list.status).toBe(200);
    expect(storedFiles(dir)).toEqual(inFiles());
    freeDisk(dir);
    const [first = ''] = stored.keys();
    const deleted = await call(`${server.url}/api/v1/objects/${first}`, {
      method: 'DELETE',
      headers: { 'X-API-Key': key },
    });
    expect(deleted.status).toBe(200);
    stored.delete(first);
    for (const id of [...stored.keys()].slice(0, 6)) {
      await call(`${server.url}/api/v1/objects/${id}`, { method: 'DELETE', headers: { 'X-API-Key': key } });
      stored.delete(id);
    }
    expect(await health(server)).toEqual([200, 'ok', 'ok']);
    const healed = await uploadBytes(server, key, randomBytes(200_000));
    expect(healed.status).toBe(201);
    stored.set(String(healed.body.public_id), Buffer.alloc(0));
    expect((await send(server, key, 'healed')).status).toBe(202);
    accepted.push('healed');
    // Every mail that was accepted goes out, those accepted while the disk was full too.
    await waitForSubjects(sink, accepted);
    expect(storedRows(dir)).toEqual([...stored.keys()].sort());
    expect(storedFiles(dir)).toEqual(inFiles());
    expect(await server.end('SIGTERM')).toBe(0);
    await sink.stop();
  });

  test('while mails are on their way loses none of them and does not spin', async () => {
    const sink = await startSmtpSink({ hang: 'data' });
    const disk = await startOnSmallDisk({ SATCHEL_EMAIL_RETRY_DELAYS: '1,1' });
    const { server, dir, key } = disk;
    await disk.addMailbox(sink.port);
    for (let n = 0; n < 5; n += 1) expect((await send(server, key, `held-${n}`)).status).toBe(202);
    await sink.until(() => sink.unanswered.length === 5);
    fillDisk(dir);
    for (let n = 0; n < 200; n += 1) if ((await send(server, key, `filler-${n}`)).status === 503) break;
    // The relay takes them now: their outcome cannot be stored before there is room.
    delete sink.behavior.hang;
    for (const answer of sink.unanswered.splice(0)) answer();
    const cpu_before = cpuTicks(server.pid);
    await Bun.sleep(1_500);
    expect(cpuTicks(server.pid) - cpu_before).toBeLessThan(120); // Of 150 that one busy core would have.
    expect((await health(server))[0]).toBe(200);
    freeDisk(dir);
    const statuses = async (): Promise<Set<unknown>> => {
      const jobs = await call(`${server.url}/api/v1/jobs?per_page=50`, { headers: { 'X-API-Key': key } });
      const data = Array.isArray(jobs.body.data) ? jobs.body.data : [];
      return new Set(data.map((job: { status?: unknown }) => job.status));
    };
    await until(async () => {
      const now = await statuses();
      return now.size === 1 && now.has('completed');
    });
    expect(await server.end('SIGTERM')).toBe(0);
    await sink.stop();
  });

  test('has no room for a backup: its job says so, nothing of it is written, and the server goes on', async () => {
    const { server, dir, key, token } = await startOnSmallDisk({});
    const api = `${server.url}/api/public/v1`;
    const headers = { Authorization: `Bearer ${token}` };
    const { status, body } = await call(`${api}/backups`, { method: 'POST', headers });
    expect(status).toBe(202);
    const { job_id } = Object(body.data);
    const job = async (): Promise<Record<string, unknown>> =>
      Object((await call(`${api}/jobs/${job_id}`, { headers })).body.data);
    await until(async () => ['completed', 'failed'].includes(String((await job()).status)));
    expect(await job()).toMatchObject({
      ...{
        status: 'failed',
        error: expect.stringMatching(/no room .* needs \d+ MiB, and \d+ MiB are free/),
      },
    });
    expect(readdirSync(join(dir, 'backups'))).toEqual([]);
    expect((await uploadBytes(server, key, new Uint8Array(100))).status).toBe(201);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('at the start ends the start with a message that says so, and with room it starts', async () => {
    const data = join(makeTempDir(), 'data');
    const first = await startServer(data);
    await first.end('SIGTERM');
    const small = makeTempDir();
    // The directory as it was, on a disk that is full but for one page.
    const script = `mount -t tmpfs -o size=${DISK_MIB}m none ${small} && cp -a ${data} ${small}/data && dd if=/dev/zero of=${small}/ballast bs=4k 2>/dev/null
        "$0" "$@"; echo "exit $?" >&2; rm ${small}/ballast
        "$0" "$@" > ${small}/out & while kill -0 $! && ! grep listening ${small}/out; do sleep 0.02; done; kill $!`;
    const outcome = await satchel(['serve', '--port', '0', '--data-dir', join(small, 'data')], {
      wrap: ['unshare', '-m', 'sh', '-c', script],
    });
    expect(outcome.stderr).toMatch(/disk.* full/);
    expect(outcome.stderr).toContain('exit 1');
    expect(outcome.stdout).toContain('satchel listening');
  });
});

/** Time that a process has spent on the processor, in hundredths of a second. */
function cpuTicks(pid: number): number {
  const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
