/**
 * A real Ghost sends a newsletter and reads what became of it. `ghost` is the index.js of a Ghost 5 with its packages, executable
 * under that name (npm's ghost, without `resolutions` and `devDependencies`, on Node 20); no package manager installs it as such.
 */

import { expect, test } from 'bun:test';
import { realpathSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { headersOf } from '../../mail/emails/setup.ts';
import { part } from '../../support/parts.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { DOMAIN, type MailgunApp, startMailgunApp } from './setup.ts';

const MEMBERS = 1_000;
/** Ghost asks for events five minutes after its start. */
const ASKED_WITHIN_MS = 7 * 60_000;

const ghost = part('ghost');

test.skipIf(ghost === null)(
  'a real Ghost sends a newsletter to a thousand members, learns who bounced, and leaves out who may get nothing',
  async () => {
    const clock = new TestClock(new Date().toISOString());
    const on = await startMailgunApp({ clock });
    const ticks = setInterval(() => clock.advance(1_000), 1_000);
    const { suppressions, projects } = on.app.services;
    const owner = projects.require('shop');
    await on.app.services.database.write((tx) =>
      suppressions.add(tx, owner, 'member7@example.org', 'hard_bounce'),
    );
    on.sink.behavior.rcpt = { 'member3@example.org': { code: 550, message: '5.1.1 User unknown' } };
    const blog = await startGhost(on);
    try {
      for (let n = 0; n < MEMBERS; n += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            blog.post('/members/', {
              members: [{ email: `member${n + at}@example.org`, name: `Member <${n + at}>` }],
            }),
          ),
        );
      const draft = { title: 'A newsletter', html: '<p>Words of a newsletter.</p>', status: 'draft' };
      const made = firstOf(await blog.post('/posts/?source=html', { posts: [draft] }), 'posts');
      const sent = await blog.ask(
        'PUT',
        `/posts/${made.id}/?newsletter=default-newsletter&email_segment=all`,
        {
          posts: [{ status: 'published', updated_at: made.updated_at }],
        },
      );
      const { email } = firstOf(sent, 'posts');
      const email_id = isPlainObject(email) ? String(email.id) : '';
      // One is refused, one suppressed; the author is a member too, where Ghost says so.
      await until(() => on.sink.mails.length >= MEMBERS - 2, 120_000);
      expect(new Set(on.sink.mails.map(({ envelope }) => envelope.to[0])).size).toBe(on.sink.mails.length);
      const calls = on.sql("SELECT DISTINCT call_id FROM emails WHERE source = 'mailgun_bulk'");
      expect(calls.length).toBeLessThanOrEqual(3);
      const raw =
        on.sink.mails.find(({ envelope }) => envelope.to[0] === 'member5@example.org')?.raw.toString() ?? '';
      expect(headersOf(raw)).toContain('List-Unsubscribe: <http');
      expect(raw.includes('%recipient.')).toBe(false);
      let failures: Record<string, unknown>[] = [];
      await until(async () => {
        failures = listOf(
          await blog.ask('GET', `/emails/${email_id}/recipient-failures/?include=member&limit=all`),
          'failures',
        );
        return failures.length === 2;
      }, ASKED_WITHIN_MS);
      expect(failures.map(({ code, severity }) => [code, severity]).sort()).toEqual([
        [550, 'permanent'],
        [605, 'permanent'],
      ]);
      // Ghost counts once it has read all.
      let counted: Record<string, unknown> = {};
      await until(async () => {
        counted = firstOf(await blog.ask('GET', `/emails/${email_id}/`), 'emails');
        return counted.failed_count === 2;
      });
      expect(counted).toMatchObject({ status: 'submitted', delivered_count: on.sink.mails.length });
      const member = async (n: number) =>
        firstOf(await blog.ask('GET', `/members/?filter=email:'member${n}@example.org'`), 'members')
          .email_suppression;
      expect(await member(7)).toMatchObject({ suppressed: true });
      expect(await member(3)).toMatchObject({ suppressed: false });
    } finally {
      clearInterval(ticks);
      await blog.stop();
    }
  },
  15 * 60_000,
);

const listOf = (body: Record<string, unknown>, name: string): Record<string, unknown>[] =>
  Array.isArray(body[name]) ? body[name].filter(isPlainObject) : [];
const firstOf = (body: Record<string, unknown>, name: string): Record<string, unknown> =>
  listOf(body, name)[0] ?? {};

/** Settings as Ghost reads them from its environment: `mail__from`. */
function variablesOf(settings: Record<string, unknown>, above = ''): Record<string, string> {
  const pairs = Object.entries(settings).flatMap(([name, value]) => {
    const below = `${above}${name}`;
    if (isPlainObject(value)) return Object.entries(variablesOf(value, `${below}__`));
    return [[below, typeof value === 'string' ? value : JSON.stringify(value)] as const];
  });
  return Object.fromEntries(pairs);
}

/** Starts Ghost on SQLite with its own blog, whose owner is signed in. */
async function startGhost(on: MailgunApp) {
  const code = dirname(realpathSync(ghost ?? ''));
  const home = makeTempDir();
  await cp(join(code, 'content'), join(home, 'content'), { recursive: true });
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = probe.port ?? 0;
  await probe.stop();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    url,
    server: { host: '127.0.0.1', port },
    database: { client: 'sqlite3', connection: { filename: join(home, 'ghost.db') }, useNullAsDefault: true },
    mail: { transport: 'stub', from: `Shop <mail@${DOMAIN}>` },
    logging: { transports: ['stdout'], level: 'error' },
    paths: { contentPath: join(home, 'content') },
    security: { staffDeviceVerification: false },
    privacy: { useUpdateCheck: false, useGravatar: false, useRpcPing: false, useStructuredData: false },
    bulkEmail: {
      batchSize: 400,
      mailgun: { baseUrl: `${on.app.url}/v3`, apiKey: on.mailgun_key, domain: DOMAIN },
    },
  };
  const child = Bun.spawn(['node', join(code, 'index.js')], {
    ...{ cwd: code, stdout: 'ignore', stderr: 'inherit' },
    env: { ...variablesOf(config), PATH: process.env.PATH ?? '', HOME: home, NODE_ENV: 'production' },
  });
  const stop = async (): Promise<void> => {
    child.kill();
    await child.exited;
  };
  let cookie = '';
  const ask = async (method: string, path: string, sent?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}/ghost/api/admin${path}`, {
      method,
      headers: { Origin: url, Cookie: cookie, 'Content-Type': 'application/json' },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 2_000)}`);
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    const body: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    return isPlainObject(body) ? body : {};
  };
  const post = (path: string, sent: unknown) => ask('POST', path, sent);
  try {
    await until(
      async () => (await fetch(`${url}/ghost/api/admin/site/`).catch(() => null))?.ok === true,
      120_000,
    );
    const owner = { email: 'owner@example.org', password: 'correct horse 7 battery' };
    await post('/authentication/setup/', { setup: [{ ...owner, name: 'Owner', blogTitle: 'Shop' }] });
    await post('/session/', { username: owner.email, password: owner.password });
  } catch (error) {
    await stop();
    throw error;
  }
  return { ask, post, stop };
}
