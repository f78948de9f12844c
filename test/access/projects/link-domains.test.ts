/** Link domains: when one is taken for leading here, what is made under it, and what answers there. */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { eq } from 'drizzle-orm';
import { emails as emailRows } from '../../../src/mail/emails/tables.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { type Answer, actor, makeProject, startTestApp } from '../../support/helpers.ts';

/** One that was free a moment ago: the public URL has to name it. */
const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
const { port } = listener;
listener.stop(true);

const PUBLIC_URL = `http://satchel.test:${port}`;
const HERE = { a: ['127.0.0.1'] };

let on: BroadcastApp;
let other: Awaited<ReturnType<typeof makeProject>>;
let administrator: string;

beforeAll(async () => {
  on = await startBroadcastApp({
    env: { SATCHEL_PORT: String(port), SATCHEL_PUBLIC_URL: PUBLIC_URL },
  });
  other = await makeProject(on.app, 'other');
  const power = {
    name: 'administrator',
    all_projects: true,
    projects: [],
    capabilities: ['can_administer' as const],
  };
  administrator = (await on.app.services.tokens.create(actor, power)).token;
  for (const name of ['links.test', 'second.test']) on.dns.set(name, HERE);
  on.dns.set('inside.test', { a: ['10.99.99.99'] });
});

afterEach(async () => {
  on.dns.set('links.test', HERE);
  for (const ref of ['shop', 'other']) await change(ref, null);
});

const change = (ref: string, link_domain: unknown, token = administrator): Promise<Answer> =>
  on.app.call('PATCH', `/api/public/v1/projects/${ref}`, { token, body: { link_domain } });
const standing = (answer: Answer) => {
  const { link_domain, link_domain_status, link_domain_problem } = dataOf(answer);
  return [link_domain, link_domain_status, link_domain_problem];
};
const show = () => on.app.call('GET', '/api/public/v1/projects/shop', { token: administrator });
const verify = () => on.app.services.link_domains.verifyAll();
const at = (host: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { ...init.headers, host },
  });

describe('a link domain', () => {
  test('is active once its name leads here, with the scheme and port of the public URL', async () => {
    const answer = await change('shop', 'LINKS.test.');
    expect(standing(answer)).toEqual(['links.test', 'active', null]);
    expect(on.app.services.link_domains.baseOf(on.project.id)).toBe(`http://links.test:${port}`);
    expect(on.app.services.link_domains.baseOf(other.id)).toBe(PUBLIC_URL);
    expect(standing(await change('shop', null))).toEqual([null, null, null]);
    expect(on.app.services.link_domains.baseOf(on.project.id)).toBe(PUBLIC_URL);
  });

  test.each([
    ['no.such.test', /^its name has no address$/],
    ['inside.test', /^its name leads to no public address/],
  ])('that leads elsewhere (%s) is pending, and says why', async (name, why) => {
    expect(standing(await change('shop', name))).toEqual([name, 'pending', expect.stringMatching(why)]);
    expect(on.app.services.link_domains.baseOf(on.project.id)).toBe(PUBLIC_URL);
    await verify();
    await verify();
    expect(standing(await show())).toEqual([name, 'pending', expect.stringMatching(why)]);
  });

  test('of another Satchel, or another project of this one, is told from ours', async () => {
    const theirs = await startTestApp({
      env: { SATCHEL_PUBLIC_URL: PUBLIC_URL, SATCHEL_DNS_SERVERS: on.dns.address },
    });
    const { id } = await makeProject(theirs);
    const { projects, link_domains } = theirs.services;
    await projects.update(actor, projects.requireById(id), { link_domain: 'links.test' });
    // The name leads to us, who know of no such link domain; then to us, where another project has it.
    expect((await link_domains.verify(id))?.link_domain_problem).toBe(
      `links.test:${port} answers 404: it leads to another server`,
    );
    await change('shop', 'links.test');
    expect((await link_domains.verify(id))?.link_domain_problem).toBe(
      `links.test:${port} answers for another Satchel, or for another project`,
    );
    await theirs.stop();
  });

  test('that stops to lead here is failing after the second look, and active again after the next good one', async () => {
    await change('shop', 'links.test');
    on.dns.set('links.test', null);
    await verify();
    expect(standing(await show())).toEqual(['links.test', 'active', 'its name has no address']);
    expect(on.app.services.link_domains.baseOf(on.project.id)).toBe(`http://links.test:${port}`);
    await verify();
    expect(standing(await show())).toEqual(['links.test', 'failing', 'its name has no address']);
    expect(on.app.services.link_domains.baseOf(on.project.id)).toBe(PUBLIC_URL);
    // What was mailed before goes on working while the name leads here after all.
    expect((await at('links.test', '/c/nothing')).status).toBe(404);
    on.dns.set('links.test', HERE);
    await verify();
    expect(standing(await show())).toEqual(['links.test', 'active', null]);
  });

  test('one bad look between good ones changes nothing', async () => {
    await change('shop', 'links.test');
    for (const entry of [null, HERE, null]) {
      on.dns.set('links.test', entry);
      await verify();
    }
    expect(standing(await show())).toEqual(['links.test', 'active', 'its name has no address']);
  });

  test('does not change the version of its record by itself, and stands on the audit trail when somebody sets it', async () => {
    await change('shop', 'links.test');
    const etag = (await show()).headers.get('etag');
    on.dns.set('links.test', null);
    await verify();
    expect((await show()).headers.get('etag')).toBe(etag);
    const audit = rowsOf(
      await on.app.call('GET', '/api/public/v1/projects/shop/audit', { token: administrator }),
    );
    expect(JSON.stringify(audit[0])).toContain('links.test');
  });

  test.each([
    ['127.0.0.1', 'must be a host name such as links.example.com'],
    ['[::1]', 'must be a host name such as links.example.com'],
    ['links', 'must be a host name such as links.example.com'],
    ['https://links.test', 'must be a host name such as links.example.com'],
    ['links.test:80', 'must be a host name such as links.example.com'],
    ['ｌinks.test', 'must be a host name such as links.example.com'],
    ['a.localhost', 'must be a name that others reach'],
    ['SATCHEL.test.', 'must be another name than that of the public URL, which every project shares'],
  ])('%s is 422 and changes nothing', async (name, message) => {
    const answer = await change('shop', name);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: { details: { errors: { link_domain: [message] } } } });
    expect(standing(await show())).toEqual([null, null, null]);
  });

  test("is one project's: 409 for another, which may keep its own", async () => {
    await change('shop', 'links.test');
    const answer = await change('other', 'Links.test');
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('LINK_DOMAIN_TAKEN')]);
    expect((await change('shop', 'links.test')).status).toBe(200);
    expect(standing(await change('other', 'second.test'))).toEqual(['second.test', 'active', null]);
  });

  test("is the operator's to set", async () => {
    const scoped = { name: 'scoped', all_projects: false, projects: ['shop'], capabilities: [] };
    const { token } = await on.app.services.tokens.create(actor, scoped);
    const refused = await change('shop', 'links.test', token);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('can_administer')]);
    expect(standing(await show())).toEqual([null, null, null]);
  });
});

describe('under it', () => {
  const base = `http://links.test:${port}`;
  let list: string;

  beforeAll(async () => {
    list = await on.list();
    await on.setTemplate('news', { body_html: '<p><a href="https://example.org/a">Read</a></p>' });
    await on.contact(list, 'ann@example.com');
  });

  /** The addresses in the mail that an address got last, its header's too. */
  function linksTo(email: string): string[] {
    const { database, emails } = on.app.services;
    const { read } = database;
    const row = read.select().from(emailRows).where(eq(emailRows.to_email, email)).get();
    if (!row) throw new Error(`${email} got nothing`);
    const { body_html } = emails.contentOf(read, row);
    const header = /<([^>]+)>/.exec(row.headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
    return [header, ...[...(body_html ?? '').matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url = '']) => url)];
  }

  test('are the links of mails, which answer there and at the public URL, and for no other project', async () => {
    await change('shop', 'links.test');
    await change('other', 'second.test');
    await on.send(await on.broadcast(list, { track_opens: true }));
    const links = linksTo('ann@example.com');
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((url) => !url.startsWith(`${base}/`))).toEqual([]);
    expect(links.filter((url) => url.startsWith(`${base}/view/`))).toHaveLength(1);
    for (const url of links) {
      const { pathname } = new URL(url);
      const statuses: number[] = [];
      for (const host of [`LINKS.test.:${port}`, 'links.test', `satchel.test:${port}`, 'second.test']) {
        const answer = await at(host, pathname);
        statuses.push(answer.status);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
      const [first = 0] = statuses;
      expect(statuses).toEqual([first, first, first, 404]);
      expect(first).toBeLessThan(400);
    }
    const content = await on.app.call('GET', `/api/public/v1/projects/shop/emails?per_page=1`, {
      token: administrator,
    });
    const shown = await on.app.call(
      'GET',
      `/api/public/v1/projects/shop/emails/${rowsOf(content)[0]?.id}/content`,
      { token: administrator },
    );
    expect(shown.text).toContain(`${base}/c/…`);
    expect(shown.text).not.toMatch(/\/(?:c|unsubscribe|view)\/[^"\\/]{32}/);
  });

  test('are public pages and the public files of its project, and nothing else', async () => {
    await change('shop', 'links.test');
    const form = new FormData();
    form.set('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt');
    form.set('visibility', 'public');
    const stored = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
    const url = String(stored.body.url);
    expect(url.startsWith(`${PUBLIC_URL}/`)).toBe(true);
    const { pathname } = new URL(url);
    const got = await at('links.test', pathname);
    expect([got.status, await got.text()]).toEqual([200, 'hello']);
    expect((await at('links.test', pathname, { method: 'HEAD' })).status).toBe(200);
    expect((await at('second.test', pathname)).status).toBe(200); // No link domain now: a host like any other.
    await change('other', 'second.test');
    expect((await at('second.test', pathname)).status).toBe(404);

    const key = { 'X-API-Key': on.key };
    const bearer = { Authorization: `Bearer ${administrator}` };
    for (const [method, path, headers] of [
      ['DELETE', pathname, key],
      ['GET', '/api/v1/objects', key],
      ['POST', '/api/v1/emails/send', key],
      ['OPTIONS', '/api/v1/objects', { Origin: 'https://a.test', 'Access-Control-Request-Method': 'GET' }],
      ['GET', '/api/public/v1/projects', bearer],
      ['GET', '/console', {}],
      ['GET', '/docs', {}],
      ['GET', '/metrics', {}],
      ['GET', '/api/health', {}],
      ['GET', '/', {}],
      ['GET', '/nothing', {}],
    ] as const) {
      const answer = await at('links.test', path, { method, headers });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect((await on.app.call('GET', pathname)).status).toBe(200);
  });

  test('links to private files of its project open there, and those of no other', async () => {
    await change('shop', 'links.test');
    await change('other', 'second.test');
    const form = new FormData();
    form.set('file', new Blob(['for you'], { type: 'text/plain' }), 'a.txt');
    const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
    const made = await on.call('POST', `/objects/${body.public_id}/links`, { expires_in_seconds: 60 });
    const { pathname } = new URL(String(made.body.url));
    for (const host of ['links.test', 'satchel.test']) {
      const got = await at(host, pathname);
      expect([host, got.status, await got.text()]).toEqual([host, 200, 'for you']);
    }
    expect((await at('links.test', pathname, { method: 'HEAD' })).status).toBe(200);
    for (const path of [`/api/v1/objects/${body.public_id}`, `${pathname}x`])
      expect((await at('links.test', path)).status).toBe(path.endsWith('x') ? 404 : 401);
    expect((await at('second.test', pathname)).status).toBe(404);
    await on.app.services.object_links.revoke(on.project, noNote);
    expect((await at('links.test', pathname)).status).toBe(404);
  });

  test('a sign-up page and its confirmation are there', async () => {
    await change('shop', 'links.test');
    await on.template('opt-in', {
      ...{ category: 'opt_in', is_marketing: false, layout: null },
      ...{ subject: 'Confirm', body_text: '{{confirm_url}}', body_html: null },
      variables: [{ name: 'confirm_url', required: true }],
    });
    const fields = { double_opt_in: true, sign_up_page: true, confirmation_template: 'opt-in' };
    const made = dataOf(await on.call('POST', '/email-lists', { name: 'Open', ...fields }), 201);
    const { sign_up_url } = made;
    expect(String(sign_up_url).startsWith(`${base}/join/`)).toBe(true);
    const path = new URL(String(sign_up_url)).pathname;
    await change('other', 'second.test');
    expect((await at('links.test', path)).status).toBe(200);
    expect((await at('second.test', path)).status).toBe(404);
    const body = new URLSearchParams({ email: 'eve@example.com' });
    expect((await at('links.test', path, { method: 'POST', body })).status).toBe(200);
    await on.pass();
    const { database, emails } = on.app.services;
    const row = database.read.select().from(emailRows).where(eq(emailRows.to_email, 'eve@example.com')).get();
    if (!row) throw new Error('no confirmation');
    const text = emails.contentOf(database.read, row).body_text ?? '';
    const url = new URL(/http\S+/.exec(text)?.[0] ?? '');
    expect(url.origin).toBe(base);
    expect((await at('second.test', url.pathname, { method: 'POST' })).status).toBe(404);
    expect((await at('links.test', url.pathname, { method: 'POST' })).status).toBe(200);
  });

  test('the archive of a list is there, and each broadcast in it', async () => {
    await change('shop', 'links.test');
    await change('other', 'second.test');
    const news = await on.list({ archive: true });
    await on.contact(news, 'fay@example.com');
    const id = await on.broadcast(news);
    await on.send(id);
    const { archive_url } = dataOf(await on.call('GET', `/email-lists/${news}`));
    expect(archive_url).toBe(`${base}/archive/${news}`);
    const path = new URL(String(archive_url)).pathname;
    for (const each of [path, `${path}/feed.xml`, `${path}/${id}`])
      for (const [host, status] of [
        ['links.test', 200],
        ['second.test', 404],
        [`satchel.test:${port}`, 200],
      ] as const)
        expect([host, each, (await at(host, each)).status]).toEqual([host, each, status]);
    expect(await (await at('links.test', path)).text()).toContain(`<a href="${base}/archive/${news}/${id}">`);
  });

  test('what tells whose it is answers there and nowhere else', async () => {
    await change('shop', 'links.test');
    const proof = await at('links.test', '/.well-known/satchel');
    expect([proof.status, await proof.text()]).toEqual([200, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    for (const host of ['satchel.test', 'second.test', 'localhost'])
      expect((await at(host, '/.well-known/satchel')).status).toBe(404);
    expect(on.app.services.link_domains.proofOf(other.id)).not.toBeNull();
  });

  test.each([
    ['GET /.well-known/satchel HTTP/1.1\r\nHost: links.test\r\nHost: satchel.test\r\n\r\n', 400],
    ['GET /.well-known/satchel HTTP/1.1\r\nHost: links.test/console\r\n\r\n', 400],
    ['GET /.well-known/satchel HTTP/1.1\r\nHost: user@links.test\r\n\r\n', 400],
    [`GET http://satchel.test/.well-known/satchel HTTP/1.1\r\nHost: links.test\r\n\r\n`, 200],
    ['GET http://links.test/.well-known/satchel HTTP/1.1\r\nHost: satchel.test\r\n\r\n', 404],
    ['GET /.well-known/satchel HTTP/1.0\r\n\r\n', 404],
    ['GET /.well-known/satchel HTTP/1.1\r\nHost: LiNkS.TeSt.:99\r\n\r\n', 200],
  ])('%j is %i', async (request, status) => {
    await change('shop', 'links.test');
    expect(await rawStatus(request)).toBe(status);
  });
});

/** The status that a request gets, as it is written. */
function rawStatus(request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect({ host: '127.0.0.1', port }, () => socket.write(request));
  socket.once('data', (head) => {
    resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString())?.[1]));
    socket.destroy();
  });
  socket.once('error', reject);
  return promise;
}
