/** A whole Satchel for a test: real database, real app, a clock that the test moves, and short ways to call it. */

import type { NewKeyInput } from '../../src/access/keys/schemas.ts';
import { type App, createApp, type Maintenance, type Services } from '../../src/app/app.ts';
import { createMaintenance } from '../../src/app/maintenance.ts';
import { type Config, type Environment, loadConfig } from '../../src/config.ts';
import type { FlushWorker } from '../../src/platform/database/wal-flusher.ts';
import { type DataDirectory, openDataDirectory } from '../../src/platform/host/data-directory.ts';
import { hasDatabase } from '../../src/platform/host/database-file.ts';
import type { Actor } from '../../src/platform/http/callers.ts';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { captureLog } from './captured-log.ts';
import { loadCheapArgon2 } from './cheap-argon2.ts';
import { atTestEnd } from './cleanup.ts';
import { takeDkimKey } from './dkim-keys.ts';
import { makeTempDir, placeDatabase, TestClock } from './temp.ts';

export const actor: Actor = { kind: 'shell', id: '0', name: 'tester', ip: null };

/** An answer with its body already read. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as an object; empty where it is none. */
  body: Record<string, unknown>;
}

export interface CallOptions {
  /** API key, for X-API-Key. */
  key?: string;
  /** Access token, for Authorization. */
  token?: string;
  /** Sent as JSON, unless it is a FormData, string or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface TestApp {
  app: App;
  services: Services;
  config: Config;
  clock: TestClock;
  data_dir: string;
  /** Where it listens, for what only a real connection shows. */
  url: string;
  /** Everything logged so far. */
  logs(): string;
  /** Calls a path such as `/api/v1/objects`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Stops the app and closes its directory, as SIGTERM does. */
  stop(): Promise<void>;
}

export interface TestAppOptions {
  env?: Environment;
  data_dir?: string;
  clock?: TestClock;
  maintenance?: Maintenance;
}

/**
 * Starts an app on a data directory of its own (or the one given, to test restarts). One that a test or its `beforeEach` starts
 * is stopped after that test, any other after the tests of the file.
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const data_dir = options.data_dir ?? makeTempDir();
  const clock = options.clock ?? new TestClock();
  const config = loadConfig({
    SATCHEL_DATA_DIR: data_dir,
    SATCHEL_PORT: '0',
    SATCHEL_PUBLIC_URL: 'http://satchel.test',
    ...options.env,
  });
  const log = captureLog(clock, { level: config.log_level });
  if (!hasDatabase(data_dir)) placeDatabase(data_dir);
  const directory: DataDirectory = await openDataDirectory(config, {
    clock,
    flush_thread: {
      worker: startFlushWorker(),
      onLost(error) {
        throw error;
      },
    },
  });
  const app = createApp(config, {
    clock,
    logger: log.logger,
    database: directory.database,
    key_ring: directory.key_ring,
    generateDkimKey: takeDkimKey,
    loadArgon2: loadCheapArgon2,
    maintenance: options.maintenance ?? createMaintenance(config),
  });
  // Folders are made as uploads need them: a thousand for each of hundreds of apps are minutes of a busy disk.
  app.services.blobs.makeFolders = async () => {};
  const port = await app.start();
  // What is done at a start is committed: a command that runs in this very process would wait for it in vain.
  await directory.database.write(() => {});
  let is_running = true;
  const test_app: TestApp = {
    app,
    services: app.services,
    config,
    clock,
    data_dir,
    url: `http://127.0.0.1:${port}`,
    logs: log.text,
    call: (method, path, call = {}) => answerOf(app, method, path, call),
    async stop() {
      if (!is_running) return;
      is_running = false;
      await app.stop();
      await directory.close();
    },
  };
  atTestEnd(() => test_app.stop());
  return test_app;
}

/**
 * The real thread, whose answers come in turns of their own: Bun's `expect(...).rejects` runs the event loop itself, and
 * called from where a message is handed over it would wait for ever for the next one.
 */
function startFlushWorker(): FlushWorker {
  const thread = new Worker(new URL('../../src/platform/database/wal-flusher.worker.ts', import.meta.url));
  const worker: FlushWorker = {
    postMessage: (message: unknown) => thread.postMessage(message),
    terminate: () => thread.terminate(),
    onmessage: null,
    onerror: null,
  };
  thread.onmessage = (event) => setImmediate(() => worker.onmessage?.call(thread, event));
  thread.onerror = (event) => worker.onerror?.call(thread, event);
  return worker;
}

async function answerOf(app: App, method: string, path: string, options: CallOptions): Promise<Answer> {
  const headers = new Headers(options.headers);
  if (options.key !== undefined) headers.set('X-API-Key', options.key);
  if (options.token !== undefined) headers.set('Authorization', `Bearer ${options.token}`);
  const { body } = options;
  const is_raw =
    body === undefined || typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
  const request = new Request(`http://satchel.test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: is_raw ? body : JSON.stringify(body) }),
  });
  const response = await app.handle(request);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseObject(text) };
}

/** What JSON holds, where it is an object; an empty one otherwise. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A project, and keys of it, made the way the command line makes them. */
export async function makeProject(app: TestApp, slug = 'shop') {
  const project = await app.services.projects.create(actor, { name: slug, slug });
  return {
    id: project.id,
    public_id: project.public_id,
    slug,
    /** The plaintext of a new key with these fields. */
    async key(
      fields: Omit<Partial<NewKeyInput>, 'name'> = { can_read: true, can_write: true },
    ): Promise<string> {
      const { plaintext_key } = await app.services.keys.create(actor, project, { name: 'k', ...fields });
      return plaintext_key;
    },
  };
}

/** A trusted default domain with a mailbox that captures, so that the app can send. */
export async function addCapturingMailbox(app: TestApp, address = 'shop@mail.example.com'): Promise<void> {
  const { sending_domains, mailboxes } = app.services;
  const name = address.split('@')[1] ?? '';
  await sending_domains.add(actor, { name, is_default: true, is_trusted: true });
  await mailboxes.add(actor, {
    address,
    relay: null,
    daily_limit: null,
    for_transactional: true,
    for_marketing: false,
    return_path: null,
  });
}

/** Text that is too large for the database, so that it is kept in a file. */
export const LARGE_TEXT = 'hello '.repeat(12_000);

/** Moves what small files the database keeps into files, whose bytes a test can then touch. */
export async function moveToFiles({ services }: Pick<TestApp, 'services'>): Promise<void> {
  await services.object_moves.move('local', { project_id: null, note: () => {}, onProgress: () => {} });
}
