/** Alerts of the compiled executable: kill -9 before and after something was told, and a disk that gets scarce. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { startReceiver } from '../webhooks/setup.ts';
import { makeToken, satchel, startServer } from './binary.ts';
import { canMount } from './small-disk.ts';

setDefaultTimeout(120_000);

test('what was found before a kill -9 is told after it, and what was told is not told again', async () => {
  const dir = makeTempDir();
  const receiver = startReceiver();
  const env = { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' };
  let server = await startServer(dir, env);
  const token = await makeToken(dir);
  const call = async (method: string, path: string, body?: object): Promise<void> => {
    const answer = await fetch(`${server.url}/api/public/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect([path, answer.status]).toEqual([path, 200]);
  };
  /** What is kept of what was found and told. */
  const kept = (): string => {
    const db = new Database(join(dir, 'satchel.db'), { readonly: true });
    const [row] = db.query('SELECT findings FROM alerts').values();
    db.close();
    return String(row?.[0]);
  };
  const restart = async () => {
    await server.end('SIGKILL');
    server = await startServer(dir, env);
  };
  const told = async (count: number): Promise<string[]> => {
    const got = await receiver.await('/hook', count);
    const { findings } = JSON.parse(got.at(-1)?.body ?? '{}') as {
      findings: { id: string; state: string }[];
    };
    return findings.map(({ id, state }) => `${state} ${id}`).sort();
  };
  await call('PUT', '/alerts', { url: `${receiver.url}/hook`, backups_here: false });
  const notes = join(dir, 'notes.txt');
  writeFileSync(notes, 'Not ours.');
  chmodSync(notes, 0o644);
  await call('GET', '/findings');
  await until(() => kept().includes('file_modes'));
  expect(receiver.got).toEqual([]);
  await restart();
  expect(await told(1)).toEqual(['new file_modes']);
  await until(() => kept().includes('"told":{"url"'));
  await restart();
  chmodSync(join(dir, 'master.key'), 0o644);
  await call('GET', '/findings');
  expect(await told(2)).toEqual(['new master_key:mode']);
  rmSync(notes);
  chmodSync(join(dir, 'master.key'), 0o600);
  await call('GET', '/findings');
  expect(await told(3)).toEqual(['mended file_modes', 'mended master_key:mode']);
});

test.skipIf(!canMount)('less than 500 MiB of disk is a problem, less than a GiB a warning', async () => {
  const statusOn = async (size: string): Promise<unknown> => {
    const place = makeTempDir();
    const data_dir = makeTempDir();
    const server = await startServer(data_dir);
    await server.end('SIGTERM');
    const script = `mount -t tmpfs -o size=${size} none ${place} && cp -a ${data_dir} ${place}/data && exec "$0" "$@"`;
    const wrap = ['unshare', '-m', 'sh', '-c', script];
    const { json, stderr } = await satchel(['doctor', '--json', '--data-dir', `${place}/data`], { wrap });
    const findings = json.findings as { id: string; status: string }[] | undefined;
    return findings?.find(({ id }) => id === 'disk_space')?.status ?? stderr;
  };
  expect(await statusOn('450m')).toBe('problem');
  expect(await statusOn('700m')).toBe('warning');
});
