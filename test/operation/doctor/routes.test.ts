/** The doctor's findings over the management plane: what the command finds, from a thread, and for administrators alone. */
import { expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { askServer } from '../../../src/operation/doctor/asking.ts';
import { type Finding, ok, problem, warning } from '../../../src/platform/host/health-check.ts';
import { HELD_FROM, RESTORE_HOLD } from '../../../src/platform/jobs/restore-hold.ts';
import {
  actor,
  addCapturingMailbox,
  makeProject,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';
import { detailsOf, listOf } from '../../support/management.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';

async function start(options: TestAppOptions = {}): Promise<{ app: TestApp; admin: string; plain: string }> {
  const app = await startTestApp(options);
  const make = async (capabilities: 'can_administer'[]): Promise<string> => {
    const fields = { name: 't', all_projects: true, projects: [], capabilities };
    return (await app.services.tokens.create(actor, fields)).token;
  };
  return { app, admin: await make(['can_administer']), plain: await make([]) };
}

const PATH = '/api/public/v1/findings';

test('are those of satchel doctor, the worst first', async () => {
  const { app, admin } = await start();
  await addCapturingMailbox(app);
  const answer = await app.call('GET', `${PATH}?per_page=50`, { token: admin });
  const healthy = listOf(answer);
  expect([healthy[0]?.status, answer.body.meta]).toMatchObject([
    'ok',
    { total: healthy.length, last_page: 1 },
  ]);
  expect(healthy).toEqual(
    expect.arrayContaining([
      {
        id: 'clock',
        check: 'clock',
        status: 'ok',
        message: 'It says 2030-01-15T12:00:00.000Z.',
        remedy: null,
        acts: [],
        about: null,
      },
      expect.objectContaining({ check: 'database', status: 'ok' }),
      expect.objectContaining({ check: 'master key', status: 'ok' }),
      expect.objectContaining({ check: 'sending domains', message: expect.stringContaining('captured') }),
    ]),
  );
  chmodSync(join(app.data_dir, 'satchel.db'), 0o644);
  const [worst] = listOf(await app.call('GET', `${PATH}?per_page=1`, { token: admin }));
  expect(worst).toMatchObject({
    ...{ check: 'file modes', status: 'problem', remedy: expect.stringContaining('chmod') },
  });
});

test('what a page can mend comes with the requests that do', async () => {
  const { app, admin } = await start();
  await app.services.sending_domains.add(actor, { name: 'mail.example.com' });
  const projects = await Promise.all(['shop', 'bakery'].map((slug) => makeProject(app, slug)));
  const now_ms = app.clock.now();
  await app.services.database.write((tx) => {
    for (const [index, { id }] of projects.entries())
      tx.$client
        .query(
          `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
           VALUES (?, ?, 'api', 'failed', 'f', 'd', 'a@example.org', 's', 'm', ?, ?)`,
        )
        .run(`mail${index}`, id, now_ms, now_ms);
    const held = { since_ms: now_ms, backup: { file: null, created_at: new Date(now_ms).toISOString() } };
    tx.$client.query('INSERT INTO meta (name, value) VALUES (?, ?)').run(RESTORE_HOLD, JSON.stringify(held));
    tx.$client
      .query(
        `INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, max_attempts, payload, queued_at)
         VALUES ('held', 1, 'email.subscribe', 'pending', 0, 'email.subscribe', ?, 1, '{}', 0)`,
      )
      .run(HELD_FROM);
  });
  const found = listOf(await app.call('GET', `${PATH}?per_page=50`, { token: admin }));
  const actsOf = (check: string) => found.find((each) => each.check === check)?.acts;
  expect(actsOf('sending domains')).toEqual([
    { kind: 'verify_domain', project: null, of: 'mail.example.com' },
  ]);
  expect(actsOf('failed emails')).toEqual(
    ['bakery', 'shop'].map((project) => ({ kind: 'retry_mail', project, of: null })),
  );
  expect(actsOf('restore')).toEqual([
    { kind: 'release', project: null, of: null },
    { kind: 'drop', project: null, of: null },
  ]);
  expect(actsOf('clock')).toEqual([]);
});

test('who asks while an examination runs gets what that one finds; later ones ask anew', async () => {
  const { promise, resolve } = Promise.withResolvers<Finding[]>();
  const finding = warning('x', 'm', 'r');
  let runs = 0;
  const never = () => new Promise<never>(() => {});
  const { app, admin } = await start({
    maintenance: {
      ...{ backUp: never, verify: never, factsOfFile: never, stop: () => {} },
      examine() {
        runs += 1;
        return runs === 1 ? promise : Promise.reject(new Error('the thread died'));
      },
    },
  });
  const ask = () => app.call('GET', PATH, { token: admin });
  const both = Promise.all([ask(), ask()]);
  resolve([finding]);
  for (const answer of await both) expect(listOf(answer)).toMatchObject([{ ...finding }]);
  expect(runs).toBe(1);
  expect((await ask()).status).toBe(500);
  expect(runs).toBe(2);
});

test('come in pages of one examination; each first page asks anew', async () => {
  let runs = 0;
  const never = () => new Promise<never>(() => {});
  const { app, admin } = await start({
    maintenance: {
      ...{ backUp: never, verify: never, factsOfFile: never, stop: () => {} },
      async examine() {
        runs += 1;
        return [1, 2, 3].map((n) => ok(`c${n}`, `run ${runs}`));
      },
    },
  });
  const ask = async (page: number) => {
    const [found] = listOf(await app.call('GET', `${PATH}?per_page=1&page=${page}`, { token: admin }));
    return [found?.check, found?.message];
  };
  expect([await ask(1), await ask(2), await ask(3)]).toEqual([
    ['c1', 'run 1'],
    ['c2', 'run 1'],
    ['c3', 'run 1'],
  ]);
  expect([await ask(1), await ask(2)]).toEqual([
    ['c1', 'run 2'],
    ['c2', 'run 2'],
  ]);
});

test('a verb is told all of them by the key of the note, where the server listens and not where its name leads', async () => {
  const never = () => new Promise<never>(() => {});
  const many = Array.from({ length: 120 }, (_, n) => ok(`c${n}`, ''));
  const deep: boolean[] = [];
  const { app } = await start({
    maintenance: {
      ...{ backUp: never, verify: never, factsOfFile: never, stop: () => {} },
      async examine(_now, _known, is_deep) {
        deep.push(is_deep);
        return many;
      },
    },
  });
  const { cert, key } = SERVER_CERTIFICATES.localhost;
  const listener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    fetch: (request) => app.app.handle(new Request(request.url.replace('https:', 'http:'), request)),
  });
  const note = {
    address: 'https://files.example.com',
    settings: { SATCHEL_PORT: String(listener.port), SATCHEL_HOST: '0.0.0.0' },
    findings_key: app.services.doctor.key,
    kept: [],
  };
  expect(await askServer(note, { is_deep: true })).toEqual(
    many.map((each) => ({ ...each, acts: [], about: null })),
  );
  // The other pages are of the same examination.
  expect(deep).toEqual([true]);
  await expect(askServer({ ...note, findings_key: 'x' }, { is_deep: false })).rejects.toThrow('status 401');
  await listener.stop(true);
  const silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } });
  const settings = { SATCHEL_PORT: String(silent.port) };
  const waiting = askServer(
    { ...note, address: 'http://127.0.0.1:1', settings },
    { is_deep: false, deadline_ms: 50 },
  );
  await expect(waiting).rejects.toThrow();
  silent.stop(true);
});

test('say when they were looked at, and which are of a while ago', async () => {
  const { app, admin } = await start();
  const at = async (query = '') =>
    (await app.call('GET', `${PATH}?per_page=1${query}`, { token: admin })).body.looked_at;
  const first = app.clock.now();
  expect(await at()).toBe(new Date(first).toISOString());
  app.clock.advance(3_599_000);
  expect(await at('&max_age_seconds=3600')).toBe(new Date(first).toISOString());
  // Those that did not look for each object do not answer who wants that.
  expect(await at('&max_age_seconds=3600&deep=true')).toBe(new Date(app.clock.now()).toISOString());
  app.clock.advance(1_000);
  expect(await at('&max_age_seconds=3600')).toBe(new Date(app.clock.now() - 1_000).toISOString());
});

test('are for administrators alone', async () => {
  const { app, plain } = await start();
  const answer = await app.call('GET', PATH, { token: plain });
  expect([answer.status, detailsOf(answer)]).toEqual([403, { required_scope: 'can_administer' }]);
  expect((await app.call('GET', PATH)).status).toBe(401);
});

test('of a while ago will do for who says so, and what reads all that is stored is then looked at once a day', async () => {
  const asked: (readonly Finding[])[] = [];
  const sound = ok('database', 'sound');
  const lost = problem('objects', 'lost', 'restore');
  const never = () => new Promise<never>(() => {});
  const { app, admin } = await start({
    maintenance: {
      ...{ backUp: never, verify: never, factsOfFile: never, stop: () => {} },
      async examine(_, known) {
        asked.push(known);
        return [sound, lost];
      },
    },
  });
  const ask = async (query = ''): Promise<number> =>
    (await app.call('GET', PATH + query, { token: admin })).status;
  const within = '?max_age_seconds=60';
  expect([await ask(within), await ask(within)]).toEqual([200, 200]);
  expect(asked).toEqual([[]]);
  app.clock.advance(60_000);
  await ask(within);
  // What is not fine is looked at again.
  expect(asked).toEqual([[], [sound]]);
  await ask();
  expect(asked).toEqual([[], [sound], []]);
  app.clock.advance(24 * 3_600_000);
  await ask(within);
  expect(asked).toEqual([[], [sound], [], []]);
  expect(await ask('?max_age_seconds=3601')).toBe(422);
});
