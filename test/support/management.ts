import { beforeEach } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { ProjectRow } from '../../src/access/projects/service.ts';
import type { Capability } from '../../src/platform/http/callers.ts';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { keepForOthers } from './cleanup.ts';
import { type Answer, actor, startTestApp, type TestApp, type TestAppOptions } from './helpers.ts';

export interface Management {
  app: TestApp;
  /** `mine` is in the scope of the scoped token, `other` is not. */
  mine: ProjectRow;
  other: ProjectRow;
  /** For every project, without a capability. */
  all: string;
  /** For `mine` alone. */
  scoped: string;
  /** Calls a path below /api/public/v1. */
  call(method: string, path: string, token: string | null, body?: unknown): Promise<Answer>;
  makeToken(options: { projects?: string[]; capabilities?: Capability[] }): Promise<string>;
  /** Every row that a refused request must leave as it is. */
  snapshot(): string;
  /** The newest event of the audit trail; its `changes` where there are any. */
  lastEvent(): { event: unknown; target: unknown; actor_name: unknown; metadata: unknown; changes?: unknown };
}

const TABLES = [
  'projects',
  'api_keys',
  'key_origins',
  'global_origins',
  'access_token_projects',
  'audit_events',
  'row_counts',
  'data_keys',
  'sending_domains',
  'mailboxes',
  'inboxes',
];

export async function startManagement(options: TestAppOptions = {}): Promise<Management> {
  const app = await startTestApp(options);
  const { projects, tokens, database } = app.services;
  const mine = await projects.create(actor, { name: 'Mine', slug: 'mine' });
  const other = await projects.create(actor, { name: 'Other', slug: 'other' });
  const makeToken: Management['makeToken'] = async (options) => {
    const { token } = await tokens.create(actor, {
      name: 'test token',
      all_projects: options.projects === undefined,
      projects: options.projects ?? [],
      capabilities: options.capabilities ?? [],
    });
    return token;
  };
  const all = await makeToken({});
  const scoped = await makeToken({ projects: ['mine'] });
  return {
    app,
    mine,
    other,
    all,
    scoped,
    makeToken,
    call: (method, path, token, body) =>
      app.call(method, `/api/public/v1${path}`, {
        ...(token === null ? {} : { token }),
        ...(body === undefined ? {} : { body }),
      }),
    snapshot: () =>
      JSON.stringify(TABLES.map((table) => database.read.all(sql.raw(`SELECT * FROM ${table}`)))),
    lastEvent: () => {
      const [event] = app.services.audit.listNewest({}, 1);
      if (!event) throw new Error('the audit trail is empty');
      const { target, actor_name, metadata, changes } = event;
      const told = Object.keys(changes).length > 0 ? { changes } : {};
      return { event: event.event, target, actor_name, metadata, ...told };
    },
  };
}

/** Has each test begin on a stage as `prepare` leaves it: on that of the test before, where nothing was changed there. */
export function beforeEachOnStage(prepare: (stage: Management) => unknown): void {
  let stage: Management | null = null;
  let prepared = '';
  const look = (): string => JSON.stringify([stage?.app.clock.now(), stage?.snapshot()]);
  beforeEach(async () => {
    if (stage && look() === prepared) return;
    await stage?.app.stop();
    stage = await keepForOthers(startManagement);
    await prepare(stage);
    prepared = look();
  });
}

/** The `data` of a success. */
export function dataOf(answer: Answer): Record<string, unknown> {
  if (!isPlainObject(answer.body.data)) throw new Error(`no data in ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** The `data` of a list. */
export function listOf(answer: Answer): Record<string, unknown>[] {
  const { data } = answer.body;
  if (!Array.isArray(data) || !data.every(isPlainObject)) {
    throw new Error(`no list in ${answer.status} ${answer.text}`);
  }
  return data;
}

export function codeOf(answer: Answer): unknown {
  return isPlainObject(answer.body.error) ? answer.body.error.code : undefined;
}

export function detailsOf(answer: Answer): Record<string, unknown> {
  const { error } = answer.body;
  return isPlainObject(error) && isPlainObject(error.details) ? error.details : {};
}

/** Fields that a 422 names. */
export function invalidFieldsOf(answer: Answer): string[] {
  const { errors } = detailsOf(answer);
  return isPlainObject(errors) ? Object.keys(errors) : [];
}
