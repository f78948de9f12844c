/** A Satchel with a project and a receiver of webhooks on loopback, which keeps what it got and answers as a test wants. */
import { atEnd } from '../support/cleanup.ts';
import {
  type Answer,
  actor,
  makeProject,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../support/helpers.ts';
import { TestClock } from '../support/temp.ts';
import { until } from '../support/until.ts';

export interface Got {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver {
  url: string;
  got: Got[];
  /** What it answers; 204 unless set. */
  respond: (got: Got) => Response | Promise<Response>;
  /** Those that it has had to a path, once there are so many. */
  await(path: string, count: number): Promise<Got[]>;
}

/** Stopped after the tests of the file. */
export function startReceiver(): Receiver {
  const receiver: Receiver = {
    url: '',
    got: [],
    respond: () => new Response(null, { status: 204 }),
    async await(path, count) {
      const of = () => receiver.got.filter((one) => one.path === path);
      await until(() => of().length >= count);
      return of();
    },
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const got = {
        path: pathname + search,
        method: request.method,
        headers: request.headers.toJSON(),
        body: await request.text(),
      };
      receiver.got.push(got);
      return receiver.respond(got);
    },
  });
  receiver.url = `http://127.0.0.1:${server.port}`;
  atEnd(() => server.stop(true));
  return receiver;
}

export interface Hook {
  id: string;
  secret: string;
}

export interface WebhookApp {
  app: TestApp;
  project: Awaited<ReturnType<typeof makeProject>>;
  receiver: Receiver;
  token: string;
  /** Calls a path below the project with a token of the project. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Adds a webhook to a path of the receiver. */
  hook(path: string, fields?: Record<string, unknown>): Promise<Hook>;
  /** Stores an object, which is an event. */
  upload(name?: string): Promise<string>;
  /** The deliveries of a webhook, newest first. */
  deliveries(hook: Hook): Promise<Record<string, unknown>[]>;
  /** Resolves once no delivery of a webhook is due or under way. */
  settled(hook: Hook, how: (deliveries: Record<string, unknown>[]) => boolean): Promise<void>;
  /** Moves the clock and has what is due by then tried. */
  pass(ms: number): void;
}

/** The real time: verifiers of signatures go by it. */
export const now = (): TestClock => new TestClock(new Date().toISOString());

export async function startWebhookApp(options: TestAppOptions = {}): Promise<WebhookApp> {
  const receiver = startReceiver();
  const app = await startTestApp({
    clock: now(),
    ...options,
    env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1', ...options.env },
  });
  const project = await makeProject(app);
  return webhookApp(app, project, receiver);
}

/** The same for an app that was started otherwise. */
export async function webhookApp(
  app: TestApp,
  project: WebhookApp['project'],
  receiver: Receiver,
): Promise<WebhookApp> {
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 'hooks', all_projects: false, projects: [project.slug], capabilities: [] },
  });
  const key = await project.key({ can_read: true, can_write: true });
  const on: WebhookApp = {
    ...{ app, project, receiver, token },
    call: (method, path, body) =>
      app.call(method, `/api/public/v1/projects/${project.slug}${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
      }),
    async hook(path, fields = {}) {
      const answer = await on.call('POST', '/webhooks', { url: `${receiver.url}${path}`, ...fields });
      const { id, secret } = dataOf(answer, 201);
      return { id: String(id), secret: String(secret) };
    },
    async upload(name = 'a.txt') {
      const form = new FormData();
      form.set('file', new Blob(['bytes']), name);
      const answer = await app.call('POST', '/api/v1/objects', { key, body: form });
      if (answer.status !== 201) throw new Error(answer.text);
      return String(answer.body.public_id);
    },
    async deliveries({ id }) {
      const answer = await on.call('GET', `/webhooks/${id}/deliveries?per_page=50`);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.data as Record<string, unknown>[];
    },
    settled: (hook, how) => until(async () => how(await on.deliveries(hook))),
    pass(ms) {
      app.clock.advance(ms);
      app.services.webhook_dispatcher.wake();
    },
  };
  return on;
}

/** The `data` of an answer; throws unless it has this status. */
export function dataOf(answer: Answer, status = 200): Record<string, unknown> {
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.data as Record<string, unknown>;
}
