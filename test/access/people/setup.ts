/** A Satchel behind a proxy with TLS, people of it, and browsers that sign in from an address of their own. */
import type { NewPersonInput } from '../../../src/access/people/schemas.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import {
  type Answer,
  actor,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';

export const PASSWORD = 'correct horse battery staple';
export const ORIGIN = 'https://satchel.test';
export const MANAGEMENT = '/api/public/v1';

export interface Asking {
  cookie?: string | undefined;
  body?: unknown;
  /** Where the browser is; 192.0.2.1 unless given. */
  ip?: string;
  /** Over those that a page of ours sends; null takes one away. */
  headers?: Record<string, string | null>;
}

export interface Console {
  app: TestApp;
  /** Asks as a page of ours does, through the proxy. */
  ask(method: string, path: string, asking?: Asking): Promise<Answer>;
  signIn(email: string, asking?: Asking & { password?: string; code?: string }): Promise<Answer>;
  /** Adds a person who has set the password, and returns their id. */
  addPerson(input: Partial<NewPersonInput> & { email: string }): Promise<number>;
  /** The cookie of a new session. */
  enter(email: string, asking?: Asking): Promise<string>;
}

export async function startConsole(options: TestAppOptions = {}): Promise<Console> {
  const env = { SATCHEL_PUBLIC_URL: ORIGIN, SATCHEL_TRUSTED_PROXIES: '127.0.0.1', ...options.env };
  const app = await startTestApp({ ...options, env });
  const ask: Console['ask'] = async (method, path, asking = {}) => {
    const { cookie, body, ip = '192.0.2.1' } = asking;
    const sent: Record<string, string | null> = {
      ...{ 'X-Forwarded-For': ip, 'X-Satchel-Console': '1', Origin: ORIGIN },
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...asking.headers,
    };
    const headers = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null);
    const response = await fetch(`${app.url}${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    return {
      ...{ status: response.status, headers: response.headers, text },
      body: isPlainObject(parsed) ? parsed : {},
    };
  };
  const signIn: Console['signIn'] = (email, { password = PASSWORD, code, ...asking } = {}) =>
    ask('POST', '/console/session', {
      ...{ ...asking, body: { email, password, ...(code === undefined ? {} : { code }) } },
    });
  return {
    ...{ app, ask, signIn },
    async addPerson(input) {
      const scope = input.projects || input.all_projects === false ? {} : { all_projects: true };
      const { id, link } = await app.services.people.add(actor, null, { ...scope, ...input });
      const used = await ask('POST', new URL(link).pathname, { body: { password: PASSWORD } });
      if (used.status !== 204) throw new Error(used.text);
      return id;
    },
    async enter(email, asking) {
      const answer = await signIn(email, asking);
      if (answer.status !== 204) throw new Error(answer.text);
      return cookieOf(answer);
    },
  };
}

/** What a browser sends back of the cookie that it was given. */
export function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Everything that is stored of people, to show that a refusal changed nothing. */
export const PEOPLE_TABLES = [
  ...['people', 'person_projects', 'person_links', 'person_sessions', 'person_recovery_codes'],
  ...['person_networks', 'person_passkeys', 'audit_events'],
];
