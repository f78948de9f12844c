/** `satchel object move`, killed again and again: every file stays whole and readable, and the next run goes on. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { part } from '../support/parts.ts';
import { startS3Server } from '../support/s3-server.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { BINARY, makeKey, type Server, satchel, startServer, storedFiles, upload } from './binary.ts';

setDefaultTimeout(120_000);
const PREFIX = 'moves';
const FILES = 40;
const KILLS = 2;

test.skipIf(part('versitygw') === null)('to the store beside a server, and back without one', async () => {
  const store = await startS3Server();
  const env = store.env(PREFIX);
  const data_dir = makeTempDir();
  // Without a store at first, so that what is stored is local.
  let server: Server = await startServer(data_dir, { SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
  const key = await makeKey(data_dir);
  const texts = new Map<string, string>();
  for (let n = 0; n < FILES; n += 1) {
    const text = `file ${n} `.repeat(9_000);
    const stored = await upload(server.url, key, text);
    texts.set(stored?.public_id ?? '', text);
  }
  await server.end('SIGTERM');

  const on_data = { env: { ...env, SATCHEL_DATA_DIR: data_dir } };
  const here = () => new Set(storedFiles(data_dir));
  const there = () => new Set(store.idsIn(PREFIX));
  const wholeIn = (ids: ReadonlySet<string>) => [...texts.keys()].every((id) => ids.has(id));

  for (const to of ['s3', 'local']) {
    const [source, target] = to === 's3' ? [here, there] : [there, here];
    if (to === 's3') server = await startServer(data_dir, env);
    let killed = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const before = target().size;
      const move = Bun.spawn([BINARY, 'object', 'move', '--to', to], {
        ...on_data,
        stdout: 'ignore',
        stderr: 'ignore',
      });
      await until(() => move.exitCode !== null || target().size >= before + 10);
      move.kill('SIGKILL');
      await move.exited;
      if (move.signalCode === 'SIGKILL') killed += 1;
      // Between a copy and its source, something always has the bytes.
      expect([...texts.keys()].filter((id) => !source().has(id) && !target().has(id))).toEqual([]);
    }
    expect(killed).toBeGreaterThan(0);
    expect(await satchel(['object', 'move', '--to', to], on_data)).toMatchObject({ exit: 0 });
    expect(wholeIn(target())).toBe(true);
    if (to === 'local') server = await startServer(data_dir, env);
    for (const [id, text] of texts) {
      const answer = await fetch(`${server.url}/api/v1/objects/${id}`, { headers: { 'X-API-Key': key } });
      expect(await answer.text()).toBe(text);
    }
    // What a kill left at the source goes at a start of the server.
    await server.end('SIGTERM');
    server = await startServer(data_dir, env);
    await until(() => source().size === 0);
    const deep = await satchel(['doctor', '--deep'], on_data);
    expect(deep.stdout).not.toMatch(/missing|without a row/);
    await server.end('SIGTERM');
  }
});
