import { describe, expect, test } from 'bun:test';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlobThread } from '../../../src/platform/files/upload-thread.ts';
import { makeTempDir } from '../../temp.ts';

const WORKER = new URL('../../../src/platform/files/upload.worker.ts', import.meta.url);

function sharedOf(text: string): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(64);
  new Uint8Array(buffer).set(Buffer.from(text));
  return buffer;
}

/** Where what is appended goes. */
const fd = openSync('/dev/null', 'w');

const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

/** A thread that counts its starts and shows the worker that runs. */
function makeThread(idle_stop_ms?: number) {
  const workers: Worker[] = [];
  const startWorker = () => {
    const worker = new Worker(WORKER);
    workers.push(worker);
    return worker;
  };
  const options = idle_stop_ms === undefined ? { startWorker } : { startWorker, idle_stop_ms };
  return { thread: new BlobThread(options), workers };
}

describe('the thread that writes blobs', () => {
  test('hashes many uploads at once, each by itself, and only the bytes that count', async () => {
    const { thread, workers } = makeThread();
    const hashes = Array.from({ length: 20 }, () => thread.start());
    const digests = hashes.map(async (hash, n) => {
      await hash.append(fd, sharedOf(`first ${n}, and what is left of others`), `first ${n}`.length);
      await hash.append(fd, sharedOf(`second ${n}`), `second ${n}`.length);
      return hash.digest();
    });
    expect(await Promise.all(digests)).toEqual(hashes.map((_, n) => hashOf(`first ${n}second ${n}`)));
    expect(workers).toHaveLength(1);
  });

  test('writes what it hashes, in the order in which it comes', async () => {
    const path = join(makeTempDir(), 'file');
    const file = makeThread().thread.start();
    const own_fd = openSync(path, 'w');
    await Promise.all(
      ['one', 'two', 'three'].map((text) => file.append(own_fd, sharedOf(text), text.length)),
    );
    expect(await file.digest()).toBe(hashOf('onetwothree'));
    expect(readFileSync(path, 'utf8')).toBe('onetwothree');
  });

  test("passes the system's error on, and goes on with other uploads", async () => {
    const { thread } = makeThread();
    const full_fd = openSync('/dev/full', 'w');
    const file = thread.start();
    await expect(file.append(full_fd, sharedOf('x'), 1)).rejects.toMatchObject({ code: 'ENOSPC' });
    file.forget();
    const other = thread.start();
    await other.append(fd, sharedOf('x'), 1);
    expect(await other.digest()).toBe(hashOf('x'));
  });

  test('hashes nothing, and forgets what was given up', async () => {
    const { thread } = makeThread();
    const given_up = thread.start();
    await given_up.append(fd, sharedOf('x'), 1);
    given_up.forget();
    given_up.forget();
    expect(await thread.start().digest()).toBe(hashOf(''));
  });

  test('that dies fails the uploads it had, and the next one gets another', async () => {
    const { thread, workers } = makeThread();
    const hash = thread.start();
    await hash.append(fd, sharedOf('x'), 1);
    const waiting = [hash.append(fd, sharedOf('y'), 1), hash.digest()];
    workers[0]?.terminate();
    for (const end of await Promise.allSettled(waiting)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', status: 503 } });
    }
    await expect(hash.append(fd, sharedOf('z'), 1)).rejects.toMatchObject({ kind: 'unavailable' });
    hash.forget();
    const next = thread.start();
    await next.append(fd, sharedOf('abc'), 3);
    expect(await next.digest()).toBe(hashOf('abc'));
    expect(workers).toHaveLength(2);
  });

  test('that breaks down is told of only when it writes no more', async () => {
    const worker = new Worker(
      URL.createObjectURL(new Blob(["self.onmessage = () => { throw new Error('broken'); };"])),
    );
    let is_closed = false;
    worker.addEventListener('close', () => {
      is_closed = true;
    });
    const file = new BlobThread({ startWorker: () => worker }).start();
    const error = await file.append(fd, sharedOf('x'), 1).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(is_closed).toBe(true);
  });

  test('is ended once it has had nothing to do for a while, and not before', async () => {
    const { thread, workers } = makeThread(1);
    const ended = Promise.withResolvers<void>();
    const hash = thread.start();
    workers[0]?.addEventListener('close', () => ended.resolve());
    const other = thread.start();
    await other.digest();
    await Bun.sleep(20);
    await hash.append(fd, sharedOf('abc'), 3);
    expect(await hash.digest()).toBe(hashOf('abc'));
    await ended.promise;
    expect(await thread.start().digest()).toBe(hashOf(''));
    expect(workers).toHaveLength(2);
  });

  test('is not ended under an upload by an earlier one that was given up while it ended', async () => {
    const { thread, workers } = makeThread(1);
    const given_up = thread.start();
    const digest = given_up.digest();
    given_up.forget();
    expect(await digest).toBe(hashOf(''));
    const next = thread.start();
    await Bun.sleep(20);
    await next.append(fd, sharedOf('abc'), 3);
    expect(await next.digest()).toBe(hashOf('abc'));
    expect(workers).toHaveLength(1);
  });
});
