/** A real S3 server for tests: versitygw on loopback, whose buckets are folders. A middle man stands before it, for faults. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import { part } from './parts.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { makeTempDir } from './temp.ts';
import { until } from './until.ts';

export const VERSITYGW = part('versitygw');
const BUCKET = 'satchel-test';
const KEY = { id: 'satchel', secret: 's3cret/with+signs' };

export interface S3Server {
  /** What stands between: hold, answer and cut what goes to the server. */
  proxy: TcpProxy;
  /** Settings of a Satchel that keeps its bytes below this prefix. */
  env(prefix: string, more?: string): Record<string, string>;
  /** Where the server keeps what is below a prefix. */
  folderOf(prefix: string): string;
  /** Ids of the objects that are below a prefix. */
  idsIn(prefix: string): string[];
}

export async function startS3Server(): Promise<S3Server> {
  const dir = makeTempDir();
  for (const name of ['data', `data/${BUCKET}`, 'meta']) mkdirSync(join(dir, name));
  const port = freePort();
  const command = [VERSITYGW ?? 'versitygw', '--access', KEY.id, '--secret', KEY.secret];
  // Metadata beside the files, as not every file system has extended attributes.
  const place = ['--port', `127.0.0.1:${port}`, 'posix', '--sidecar', join(dir, 'meta'), join(dir, 'data')];
  const child = Bun.spawn([...command, ...place], { stdout: 'ignore', stderr: 'ignore' });
  atEnd(async () => {
    child.kill('SIGKILL');
    await child.exited;
  });
  await until(() =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );
  const proxy = await startTcpProxy(port);
  atEnd(() => proxy.stop());
  const endpoint = encodeURIComponent(`http://127.0.0.1:${proxy.port}`);
  const folderOf = (prefix: string): string => join(dir, 'data', BUCKET, prefix);
  return {
    proxy,
    env: (prefix, more = '') => ({
      SATCHEL_OBJECT_STORE: `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&style=path${more}`,
      SATCHEL_S3_ACCESS_KEY_ID: KEY.id,
      SATCHEL_S3_SECRET_ACCESS_KEY: KEY.secret,
    }),
    folderOf,
    idsIn(prefix) {
      const folder = join(folderOf(prefix), 'objects');
      return existsSync(folder) ? readdirSync(folder) : [];
    },
  };
}

/** Takes a file away from the server behind everybody's back. */
export function loseKey(server: S3Server, prefix: string, id: string): void {
  rmSync(join(server.folderOf(prefix), 'objects', id));
}

/** An answer of a store that refuses. */
export function refusal(status: number, code: string): Buffer {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test wants it</Message></Error>`;
  return Buffer.from(
    `HTTP/1.1 ${status} X\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}
