/** How long a store has to take a connection: a listener whose queue is full answers no more than a machine that is gone. */
import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { loadConfig } from '../../../src/config.ts';
import { S3Requests, StoreFault } from '../../../src/platform/files/s3-requests.ts';
import { atEnd } from '../../support/cleanup.ts';

/** Listens with the shortest queue there is, and takes nobody out of it; the runtime's own queue is of hundreds. */
const LISTENER = `use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0); bind($s, sockaddr_in(0, INADDR_LOOPBACK)); listen($s, 0);
$| = 1; print +(sockaddr_in(getsockname($s)))[0], "\\n"; sleep 600`;
const perl = Bun.which('perl');

async function startFullListener(): Promise<number> {
  const child = Bun.spawn([perl ?? 'perl', '-e', LISTENER], { stdout: 'pipe' });
  atEnd(async () => {
    child.kill('SIGKILL');
    await child.exited;
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const waiting = Array.from({ length: 4 }, () => connect({ host: '127.0.0.1', port }));
  atEnd(async () => {
    for (const socket of waiting) socket.destroy();
  });
  await Promise.race(waiting.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  return port;
}

test.skipIf(perl === null)(
  'a store that takes no connection is away after 5 s, without a wait for an answer, and is tried once more',
  async () => {
    const port = await startFullListener();
    const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`);
    const { object_store } = loadConfig({
      SATCHEL_OBJECT_STORE: `s3://bucket?endpoint=${endpoint}&style=path`,
      SATCHEL_S3_ACCESS_KEY_ID: 'id',
      SATCHEL_S3_SECRET_ACCESS_KEY: 'secret',
    });
    if (!object_store) throw new Error('there is no store');
    const fault: unknown = await new S3Requests(object_store, () => Date.now())
      .send({ method: 'GET', key: 'objects/a' })
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StoreFault);
    expect(fault).toMatchObject({ kind: 'unavailable', reason: 'no connection in 5 s' });
  },
  60_000,
);
