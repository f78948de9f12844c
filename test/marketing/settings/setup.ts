/** A Satchel with a project, a marketing key and a DNS server, for the tests of email marketing. */
import { atEnd } from '../../support/cleanup.ts';
import { type DnsServer, startDnsServer, type Zone } from '../../support/dns-server.ts';
import {
  type Answer,
  actor,
  makeProject,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';

/** `example.com` takes mail, `a-only.example` by its address, `null-mx.example` none; `dead.example` never answers. */
const ZONE: Zone = {
  'example.com': { mx: [{ exchange: 'mx.example.com', preference: 10 }] },
  'example.org': { mx: [{ exchange: 'mx.example.org', preference: 10 }] },
  'xn--bcher-kva.example': { mx: [{ exchange: 'mx.example.com', preference: 10 }] },
  'a-only.example': { a: ['192.0.2.1'] },
  'null-mx.example': { mx: [{ exchange: '.', preference: 0 }] },
  'dead.example': { fault: 'servfail' },
};

export interface MarketingApp {
  app: TestApp;
  dns: DnsServer;
  project: Awaited<ReturnType<typeof makeProject>>;
  key: string;
  /** Calls a path of the data plane with the marketing key. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Calls the same path on the management plane, with a token for the project. */
  mirror(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a list that takes contacts without a basis of their own, and returns its id. */
  list(fields?: Record<string, unknown>): Promise<string>;
  /** Adds a contact and returns its record. */
  contact(list: string, email: string, fields?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Stopped after the tests of the file. */
export async function startMarketingApp(options: TestAppOptions = {}): Promise<MarketingApp> {
  const dns = await startDnsServer(ZONE);
  atEnd(() => dns.stop());
  const app = await startTestApp({ ...options, env: { SATCHEL_DNS_SERVERS: dns.address, ...options.env } });
  const project = await makeProject(app);
  const key = await project.key({ can_read: true, can_write: true, can_manage_email_marketing: true });
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    app.call(method, `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  const { token } = await app.services.tokens.create(actor, {
    name: 'mirror',
    all_projects: false,
    projects: [project.slug],
    capabilities: [],
  });
  const mirror = (method: string, path: string, body?: unknown): Promise<Answer> =>
    app.call(method, `/api/public/v1/projects/${project.slug}${path}`, {
      token,
      ...(body === undefined ? {} : { body }),
    });
  return {
    ...{ app, dns, project, key, call, mirror },
    async list(fields = {}) {
      const made = await call('POST', '/email-lists', {
        name: 'News',
        default_consent_basis: 'consent',
        ...fields,
      });
      return String(dataOf(made, 201).id);
    },
    async contact(list, email, fields = {}) {
      return dataOf(await call('POST', `/email-lists/${list}/contacts`, { email, ...fields }), 201);
    },
  };
}

/** The `data` of an answer; throws unless it has this status. */
export function dataOf(answer: Answer, status = 200): Record<string, unknown> {
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.data as Record<string, unknown>;
}

/** The `data` of a list. */
export function rowsOf(answer: Answer): Record<string, unknown>[] {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.data as Record<string, unknown>[];
}
