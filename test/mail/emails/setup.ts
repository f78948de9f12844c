/** A Satchel that can send: a project with a key, sending domains whose mailboxes hand over to a sink on loopback. */

import { expect } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import {
  type Answer,
  actor,
  makeProject,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';
import type { SmtpSink } from '../../support/smtp-sink.ts';

export const RELAY_DOWN_PORT = 9;

export interface Sender {
  app: TestApp;
  project: Awaited<ReturnType<typeof makeProject>>;
  key: string;
  /** POST /emails/send with a body that is fine unless these fields make it otherwise. */
  send(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** The log of an email. */
  log(id: unknown): Promise<Record<string, unknown>>;
  /** The job of an email. */
  job(id: unknown): Promise<Record<string, unknown>>;
  get(path: string): Promise<Answer>;
  /** Lets the engine do all that is due. */
  settle(): Promise<void>;
  /** Moves the clock on and lets the engine do all that is due then. */
  pass(ms: number): Promise<void>;
}

export async function startSender(options: TestAppOptions = {}): Promise<Sender> {
  const app = await startTestApp(options);
  const project = await makeProject(app);
  const key = await project.key({ can_read: true, can_write: true, can_send_emails: true });
  return senderOf(app, project, key);
}

/** The same ways to call another app, such as one started again on the same directory. */
export function senderOf(app: TestApp, project: Sender['project'], key: string): Sender {
  const get = (path: string): Promise<Answer> => app.call('GET', `/api/v1${path}`, { key });
  const settle = (): Promise<void> => app.app.engine.whenIdle();
  return {
    app,
    project,
    key,
    get,
    settle,
    send: (fields = {}, headers = {}) =>
      app.call('POST', '/api/v1/emails/send', { key, headers, body: { ...MAIL, ...fields } }),
    log: async (id) => (await get(`/emails/${id}`)).body,
    async job(id) {
      const { data } = (await get(`/jobs/${id}`)).body;
      return isPlainObject(data) ? data : {};
    },
    async pass(ms) {
      app.clock.advance(ms);
      await settle();
    },
  };
}

export const MAIL = { to: 'ada@example.org', subject: 'Hello', body_text: 'Hi Ada' };

/** A trusted domain with one mailbox `hello@` that hands over to this port; null captures. */
export async function addDomain(
  app: TestApp,
  name: string,
  relay: SmtpSink | number | null,
  options: { daily_limit?: number; is_default?: boolean } = {},
): Promise<string> {
  const { sending_domains } = app.services;
  await sending_domains.add(actor, { name, is_trusted: true, is_default: options.is_default ?? false });
  return addMailbox(app, `hello@${name}`, relay, options);
}

export async function addMailbox(
  app: TestApp,
  address: string,
  relay: SmtpSink | number | null,
  options: { daily_limit?: number } = {},
): Promise<string> {
  const port = typeof relay === 'number' ? relay : relay?.port;
  await app.services.mailboxes.add(actor, {
    address,
    relay: port === undefined ? null : parseRelay(`smtp://127.0.0.1:${port}`),
    daily_limit: options.daily_limit ?? null,
  });
  return address;
}

/** The headers of a message, unfolded. */
export function headersOf(raw: Buffer | string): string {
  return (
    raw
      .toString()
      .split('\r\n\r\n')[0]
      ?.replace(/\r\n[ \t]+/g, ' ') ?? ''
  );
}

/** What a refusal says of its fields; fails the test when it repeats the submitted text. */
export function errorsOf(answer: Answer, submitted?: string): string[] {
  if (submitted !== undefined && submitted.length > 3) expect(answer.text).not.toContain(submitted);
  const { errors } = answer.body;
  return isPlainObject(errors) ? Object.keys(errors) : [];
}

/** Rows of a query, for what no endpoint shows. */
export function rows(app: TestApp, query: string): unknown[] {
  return app.services.database.read.$client.query(query).all();
}
