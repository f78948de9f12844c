/** Problems are told once by each way, again after a day, and once they are mended; whatever fails or ends meanwhile. */
import { expect, test } from 'bun:test';
import { about, aside, type Finding, ok, problem, warning } from '../../../src/platform/host/health-check.ts';
import { actor } from '../../support/helpers.ts';
import { codeOf, dataOf, detailsOf } from '../../support/management.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { startReceiver } from '../../webhooks/setup.ts';
import { addRelay, DAY, HOUR, MINUTE, OPS, SECOND, type Stage, startStage } from './setup.ts';

const disk = (free = 400): Finding => problem('disk space', `${free} MiB are free.`, 'make room');
const lost = problem('objects', 'One object has lost its bytes.', 'satchel restore FILE --yes');

async function withUrl(format = 'json', options: Parameters<typeof startStage>[0] = {}): Promise<Stage> {
  const stage = await startStage(options);
  const set = await stage.call('PUT', '/alerts', {
    url: `${stage.receiver.url}/hook?token=deep-secret`,
    format,
  });
  expect(set.status).toBe(200);
  return stage;
}

const statesOf = ({ bodies }: Stage) =>
  bodies().map(({ findings }) =>
    (findings as { id: string; state: string }[]).map(({ id, state }) => `${state} ${id}`),
  );

test('a problem is told once, again after a day while it lasts, and once more when it is mended', async () => {
  const stage = await withUrl();
  const { find, tellAfter } = stage;
  await find(disk(400), warning('clock', 'odd', 'look'), ok('database', 'sound'));
  await tellAfter(9 * SECOND);
  expect(stage.receiver.got).toEqual([]);
  await tellAfter(SECOND);
  const [got] = stage.bodies();
  expect(got).toEqual({
    text: expect.stringContaining('PROBLEM (disk space): 400 MiB are free.\n-> make room'),
    findings: [
      {
        ...{ id: 'disk_space', check: 'disk space', status: 'problem', state: 'new', remedy: 'make room' },
        ...{ message: '400 MiB are free.', since: '2030-01-15T12:00:00.000Z' },
      },
    ],
    url: 'http://satchel.test/console/findings',
  });
  expect(got?.text).toStartWith('Satchel at satchel.test: 1 problem\n\n');
  // Other numbers are no news.
  await find(disk(300));
  await tellAfter(DAY - MINUTE);
  expect(stage.bodies()).toHaveLength(1);
  await tellAfter(MINUTE + 10 * SECOND);
  expect(statesOf(stage)).toEqual([['new disk_space'], ['still disk_space']]);
  expect(stage.bodies()[1]?.text).toContain(
    'STILL A PROBLEM (disk space): 300 MiB are free.\nSince 2030-01-15T12:00:00.000Z.',
  );
  await find(warning('disk space', '700 MiB are free.', 'make room'));
  await tellAfter(10 * SECOND);
  await tellAfter(2 * DAY);
  expect(statesOf(stage).slice(2)).toEqual([['mended disk_space']]);
  await find(disk());
  await tellAfter(10 * SECOND);
  expect(statesOf(stage).slice(3)).toEqual([['new disk_space']]);
});

test('what is found within ten seconds is one message; what is mended before it is told is none', async () => {
  const stage = await withUrl();
  await stage.find(disk());
  await stage.tellAfter(5 * SECOND);
  await stage.find(disk(), lost);
  await stage.tellAfter(5 * SECOND);
  expect(statesOf(stage)).toEqual([['new disk_space', 'new objects']]);
  await stage.find(disk(), lost, aside('mode', problem('objects', 'open', 'chmod')));
  await stage.tellAfter(3 * SECOND);
  await stage.find(disk(), lost);
  await stage.tellAfter(HOUR);
  expect(stage.bodies()).toHaveLength(1);
  const [told] = stage.bodies();
  expect(told?.text).toStartWith('Satchel at satchel.test: 2 problems');
});

test('six messages an hour go out, and the rest waits for the next', async () => {
  const stage = await withUrl();
  const many: Finding[] = [];
  for (let n = 0; n < 8; n += 1) {
    many.push(about('mailbox', `m${n}@example.com`, problem('mailboxes', 'rests', 'look')));
    await stage.find(...many);
    await stage.tellAfter(MINUTE);
  }
  expect(stage.bodies()).toHaveLength(6);
  await stage.tellAfter(HOUR - 7 * MINUTE - SECOND);
  expect(stage.bodies()).toHaveLength(6);
  await stage.tellAfter(SECOND);
  expect(statesOf(stage)[6]).toEqual(['new mailboxes:m6@example.com', 'new mailboxes:m7@example.com']);
});

test('what could not be looked at is not mended, nor what a look that was cut short left out', async () => {
  const stage = await withUrl();
  const damaged = problem('database', 'It is damaged.', 'restore');
  await stage.find(damaged, lost);
  await stage.tellAfter(10 * SECOND);
  await stage.find(damaged, aside('unchecked', problem('objects', 'This could not be checked', 'run')));
  await stage.tellAfter(10 * SECOND);
  expect(statesOf(stage)[1]).toEqual(['new objects:unchecked']);
  await stage.find(problem('master key', 'It is missing.', 'set it'));
  await stage.tellAfter(10 * SECOND);
  expect(statesOf(stage)[2]).toEqual(['new master_key']);
  await stage.find();
  await stage.tellAfter(10 * SECOND);
  expect(statesOf(stage)[3]?.sort()).toEqual([
    ...['mended database', 'mended master_key', 'mended objects', 'mended objects:unchecked'],
  ]);
});

test('a deep look, which finds what others do not, tells nobody', async () => {
  const stage = await withUrl();
  await stage.find(lost);
  await stage.tellAfter(10 * SECOND);
  await stage.app.services.doctor.look({ max_age_ms: 0, is_deep: true });
  await stage.tellAfter(10 * SECOND);
  expect(stage.bodies()).toHaveLength(1);
});

test('each kind of receiver gets what it reads', async () => {
  const evil = problem('webhooks', `<!channel> @everyone & <b> ${'ü'.repeat(5_000)}`, 'none');
  const told = async (format: string) => {
    const stage = await withUrl(format);
    const many = Array.from({ length: 30 }, (_, n) => aside(`n${n}`, evil));
    await stage.find(...many);
    await stage.tellAfter(10 * SECOND);
    await stage.find();
    await stage.tellAfter(10 * SECOND);
    const [first, second] = stage.receiver.got;
    if (!first || !second) throw new Error('nothing was told');
    expect([first.method, first.path]).toEqual(['POST', '/hook?token=deep-secret']);
    return [first, second] as const;
  };
  const title = 'Satchel at satchel.test: 30 problems';
  const [slack] = await told('slack');
  const { text, ...no_more } = JSON.parse(slack.body);
  expect(text).toContain('&lt;!channel&gt; @everyone &amp; &lt;b&gt;');
  expect([text.includes('<'), text.includes('And 10 more.'), no_more]).toEqual([false, true, {}]);
  const [discord] = await told('discord');
  const { content, ...rest } = JSON.parse(discord.body);
  expect([content.length, content.startsWith(title), rest]).toEqual([
    2_000,
    true,
    { allowed_mentions: { parse: [] } },
  ]);
  const [ntfy, ntfy_good] = await told('ntfy');
  expect(ntfy.headers).toMatchObject({
    title,
    priority: 'high',
    'content-type': 'text/plain; charset=utf-8',
  });
  expect(ntfy.body).toStartWith('PROBLEM (webhooks): <!channel>');
  expect(ntfy.body).not.toContain('\uFFFD');
  expect(Buffer.byteLength(ntfy.body)).toBeLessThanOrEqual(4_000);
  expect(ntfy_good.headers).toMatchObject({
    title: 'Satchel at satchel.test: 30 mended',
    priority: 'default',
  });
  const [gotify, gotify_good] = await told('gotify');
  expect(JSON.parse(gotify.body)).toEqual({
    title,
    message: expect.stringContaining('PROBLEM'),
    priority: 8,
  });
  expect(JSON.parse(gotify_good.body)).toMatchObject({ priority: 2 });
  const [json, json_good] = await told('json');
  expect(JSON.parse(json.body).findings).toHaveLength(30);
  expect(JSON.parse(json_good.body).findings[0]).toMatchObject({
    status: 'ok',
    state: 'mended',
    remedy: null,
  });
});

test('mail goes from the default domain to each address by itself, and into no log', async () => {
  const stage = await startStage();
  await addRelay(stage);
  await stage.call('PUT', '/alerts', { email: [OPS, 'second@example.com', OPS] });
  await stage.find(disk());
  await stage.tellAfter(10 * SECOND);
  expect(stage.sink.mails.map(({ envelope }) => envelope)).toEqual(
    expect.arrayContaining(
      [OPS, 'second@example.com'].map((to) => ({ from: 'hello@mail.example.com', to: [to] })),
    ),
  );
  expect(stage.mails()).toHaveLength(2);
  expect(stage.mails()[0]).toContain('Subject: Satchel at satchel.test: 1 problem');
  expect(stage.mails()[0]).toContain('400 MiB are free.');
  const { emails } = dataOf(await stage.call('GET', '/overview')) as { emails: object };
  expect(Object.values(emails).every((n) => n === 0)).toBe(true);
});

test('where the first mailbox fails another one takes the mail', async () => {
  const stage = await startStage();
  const broken = await startSmtpSink();
  await broken.stop();
  await addRelay({ app: stage.app, sink: broken });
  await addRelay(stage, 'spare@other.example.com');
  await stage.call('PUT', '/alerts', { email: [OPS] });
  await stage.find(disk());
  await stage.tellAfter(10 * SECOND);
  expect(stage.sink.mails.map(({ envelope }) => envelope.from)).toEqual(['spare@other.example.com']);
  expect(dataOf(await stage.call('GET', '/alerts'))).toMatchObject({ problem: null });
});

test('where the relay itself is broken the URL is told so after three tries in ten minutes, and what mail missed comes later', async () => {
  const stage = await withUrl();
  await addRelay(stage);
  await stage.call('PUT', '/alerts', { email: [OPS] });
  stage.sink.behavior.greeting = { code: 554, message: 'we are closed' };
  await stage.find(disk());
  await stage.tellAfter(10 * SECOND);
  await stage.tellAfter(2 * MINUTE);
  expect(dataOf(await stage.call('GET', '/alerts'))).toMatchObject({ problem: null });
  await stage.tellAfter(8 * MINUTE);
  const { problem: words, last_sent_at } = dataOf(await stage.call('GET', '/alerts'));
  expect([words, last_sent_at]).toEqual([
    expect.stringMatching(/^ops@example\.com: .*we are closed/),
    '2030-01-15T12:00:10.000Z',
  ]);
  const { urgentChecks } = await import('../../../src/app/urgent-checks.ts');
  const urgent = urgentChecks(stage.app.services);
  await stage.app.services.alerts.tick(urgent.slice(-1));
  await stage.tellAfter(10 * SECOND);
  expect(statesOf(stage)).toEqual([['new disk_space'], ['new alerts:ops@example.com']]);
  expect(stage.bodies()[1]?.text).toContain('Alerts to ops@example.com do not arrive: ');
  delete stage.sink.behavior.greeting;
  await stage.tellAfter(HOUR);
  const [text] = stage.mails();
  expect(text).toContain('PROBLEM (disk space): 400 MiB are free.');
  expect(text).toContain('MENDED (alerts): Alerts to ops@example.com do not arrive');
  await stage.app.services.alerts.tick(urgent.slice(-1));
  await stage.tellAfter(10 * SECOND);
  expect(statesOf(stage).slice(2)).toEqual([['mended alerts:ops@example.com']]);
  expect(dataOf(await stage.call('GET', '/alerts'))).toMatchObject({ problem: null });
  expect(stage.mails()).toHaveLength(1);
});

test('a URL that fails is told of by mail, with its host alone', async () => {
  const stage = await withUrl();
  await addRelay(stage);
  await stage.call('PUT', '/alerts', { email: [OPS] });
  stage.receiver.respond = () => new Response(null, { status: 302, headers: { location: '/elsewhere' } });
  await stage.find(disk());
  for (const wait of [10 * SECOND, 2 * MINUTE, 8 * MINUTE]) await stage.tellAfter(wait);
  expect(stage.receiver.got).toHaveLength(3);
  expect(stage.receiver.got.map(({ path }) => path)).not.toContain('/elsewhere');
  const { arrivalCheck } = await import('../../../src/operation/alerts/checks.ts');
  await stage.app.services.alerts.tick([arrivalCheck(stage.app.services)]);
  await stage.tellAfter(10 * SECOND);
  const [, second] = stage.mails();
  expect(second).toContain('a redirect (302), which is not followed');
  expect(second).toContain(stage.receiver.url);
  expect(stage.mails().join() + stage.app.logs()).not.toContain('deep-secret');
});

test('a restart in the middle neither repeats nor forgets', async () => {
  const first = await withUrl();
  const { receiver, sink } = first;
  await addRelay(first);
  await first.call('PUT', '/alerts', { email: [OPS] });
  // The URL takes it, the relay does not, and the server ends.
  sink.behavior.greeting = { code: 421, message: 'later' };
  await first.find(disk());
  await first.tellAfter(10 * SECOND);
  await first.find(disk(), lost);
  await first.app.stop();
  delete sink.behavior.greeting;
  const options = { data_dir: first.app.data_dir, clock: first.app.clock, receiver, sink };
  const second = await startStage(options);
  await second.find(disk(), lost);
  await second.tellAfter(HOUR);
  expect(statesOf(second)).toEqual([['new disk_space'], ['new objects']]);
  const [mail] = second.mails();
  expect([mail?.includes('disk space'), mail?.includes('objects'), second.mails().length]).toEqual([
    true,
    true,
    1,
  ]);
  await second.app.stop();
  const third = await startStage(options);
  await third.find();
  await third.tellAfter(10 * SECOND);
  expect(statesOf(third).slice(2)).toEqual([['mended disk_space', 'mended objects']]);
  expect(third.mails()).toHaveLength(2);
});

test('a stop waits for what is under way, which would be told again', async () => {
  const stage = await withUrl();
  const { promise, resolve } = Promise.withResolvers<Response>();
  stage.receiver.respond = () => promise;
  await stage.find(disk());
  const telling = stage.tellAfter(10 * SECOND);
  await until(() => stage.receiver.got.length === 1);
  const stopped = stage.app.stop();
  resolve(new Response('ok'));
  await Promise.all([telling, stopped]);
  const { data_dir, clock } = stage.app;
  const again = await startStage({ data_dir, clock, receiver: stage.receiver });
  await again.find(disk());
  await again.tellAfter(HOUR);
  expect(stage.receiver.got).toHaveLength(1);
});

test('what a full disk does not take is told all the same, once', async () => {
  const stage = await withUrl();
  const { database } = stage.app.services;
  const write = database.write;
  database.write = () => Promise.reject(new Error('the disk is full'));
  await stage.app.services.alerts.tick([{ check: 'disk space', run: () => [disk(0)] }]);
  await stage.tellAfter(10 * SECOND);
  await stage.tellAfter(HOUR);
  expect(statesOf(stage)).toEqual([['new disk_space']]);
  database.write = write;
  await stage.app.services.alerts.tick([{ check: 'disk space', run: () => [] }]);
  await stage.tellAfter(10 * SECOND);
  await stage.tellAfter(HOUR);
  expect(statesOf(stage)).toEqual([['new disk_space'], ['mended disk_space']]);
});

test('a new address is told what is wrong, another URL too, and who is taken away nothing more', async () => {
  const stage = await withUrl();
  await addRelay(stage);
  await stage.find(disk());
  await stage.tellAfter(10 * SECOND);
  await stage.call('PUT', '/alerts', { email: [OPS] });
  await stage.tellAfter(10 * SECOND);
  expect([stage.mails().length, stage.bodies().length]).toEqual([1, 1]);
  await stage.call('PUT', '/alerts', { url: `${stage.receiver.url}/other`, email: null });
  await stage.tellAfter(10 * SECOND);
  expect(stage.receiver.got.map(({ path }) => path)).toEqual(['/hook?token=deep-secret', '/other']);
  await stage.call('PUT', '/alerts', { url: null });
  await stage.find();
  await stage.tellAfter(DAY);
  expect([stage.mails().length, stage.receiver.got.length]).toEqual([1, 2]);
});

test('by itself the server tells ten seconds after it found something', async () => {
  const stage = await withUrl();
  await stage.find(disk());
  stage.app.clock.advance(10 * SECOND);
  stage.app.services.alerts.start();
  await stage.receiver.await('/hook?token=deep-secret', 1);
  await until(() => statesOf(stage).length === 1);
});

test('everything is looked at soon after somebody is told, and then hourly', async () => {
  const stage = await startStage();
  const { alerts, doctor } = stage.app.services;
  let looks = 0;
  doctor.listen(() => {
    looks += 1;
  });
  const minute = async () => {
    stage.app.clock.advance(MINUTE);
    await alerts.tick([]);
  };
  await minute();
  expect(looks).toBe(0);
  await stage.call('PUT', '/alerts', { url: stage.receiver.url });
  await minute();
  await until(() => looks === 1);
  for (let n = 0; n < 59; n += 1) await minute();
  expect(looks).toBe(1);
  await minute();
  await until(() => looks === 2);
});

test('what is set is shown without secrets, and what it can not be is named', async () => {
  const stage = await startStage();
  const { call, receiver } = stage;
  const nobody = {
    email: [],
    url: null,
    format: null,
    backups_here: true,
    last_sent_at: null,
    problem: null,
  };
  expect(dataOf(await call('GET', '/alerts'))).toEqual(nobody);
  const url = `${receiver.url}/services/very-secret?token=also`;
  const set = dataOf(await call('PUT', '/alerts', { url, format: 'slack', email: [OPS] }));
  expect(set).toEqual({ ...nobody, url: receiver.url, format: 'slack', email: [OPS] });
  // What is left out stays.
  expect(dataOf(await call('PUT', '/alerts', { backups_here: false }))).toEqual({
    ...set,
    backups_here: false,
  });
  const trail = await call('GET', '/audit?event=alerts.changed');
  expect(trail.text).toContain('"url":{"secret":true}');
  const rows = JSON.stringify(stage.app.services.database.read.all('SELECT * FROM alerts'));
  expect(`${trail.text}${rows}${stage.app.logs()}`).not.toContain('very-secret');
  const refused = async (body: object) => {
    const answer = await call('PUT', '/alerts', body);
    return [answer.status, Object.keys(detailsOf(answer))];
  };
  expect(await refused({ url: 'http://192.0.2.1/x' })).toEqual([422, expect.anything()]);
  expect(await refused({ url: 'https://user:password@example.com/' })).toEqual([422, expect.anything()]);
  expect(await refused({ email: Array.from({ length: 11 }, (_, n) => `a${n}@example.com`) })).toEqual([
    422,
    expect.anything(),
  ]);
  expect(await refused({ url: null, format: 'ntfy' })).toEqual([422, expect.anything()]);
  expect(await refused({ format: 'teams' })).toEqual([422, expect.anything()]);
  expect(dataOf(await call('GET', '/alerts'))).toEqual({ ...set, backups_here: false });
  expect(dataOf(await call('PUT', '/alerts', { url: null, email: null, backups_here: true }))).toEqual(
    nobody,
  );
});

test('a test goes to all, and says what came of each', async () => {
  const stage = await withUrl('gotify');
  await addRelay(stage);
  await stage.call('PUT', '/alerts', { email: [OPS, 'gone@example.com'] });
  stage.sink.behavior.rcpt = { 'gone@example.com': { code: 550, message: 'no such user' } };
  const tested = await stage.call('POST', '/alerts/test');
  expect(dataOf(tested)).toEqual({
    email: [
      { to: OPS, ok: true, words: null },
      { to: 'gone@example.com', ok: false, words: expect.stringContaining('no such user') },
    ],
    url: { ok: true, status: 204, words: null },
  });
  expect(stage.bodies()[0]).toMatchObject({ title: 'Satchel at satchel.test: a test', priority: 2 });
  const shown = dataOf(await stage.call('GET', '/alerts'));
  expect(shown).toMatchObject({
    last_sent_at: '2030-01-15T12:00:00.000Z',
    problem: expect.stringMatching(/^gone@/),
  });
  stage.receiver.respond = () => new Response(null, { status: 404 });
  expect(dataOf(await stage.call('POST', '/alerts/test')).url).toEqual({
    ok: false,
    status: 404,
    words: 'It answered 404.',
  });
  await stage.call('PUT', '/alerts', { email: null, url: null });
  const none = await stage.call('POST', '/alerts/test');
  expect([none.status, codeOf(none)]).toEqual([409, 'CONFLICT']);
  expect(stage.app.services.audit.listNewest({}, 5).map(({ event }) => event)).toContain('alerts.tested');
});

test('without a mailbox that delivers a mail fails with the line that mends it', async () => {
  const stage = await startStage();
  await stage.call('PUT', '/alerts', { email: [OPS] });
  expect(dataOf(await stage.call('POST', '/alerts/test'))).toEqual({
    email: [{ to: OPS, ok: false, words: expect.stringContaining('satchel mailbox add') }],
    url: null,
  });
});

test('who may not administer neither sees nor sets it', async () => {
  const { app } = await startStage();
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 'reader', all_projects: true, projects: [], capabilities: [] },
  });
  for (const [method, path] of [
    ['GET', '/alerts'],
    ['PUT', '/alerts'],
    ['POST', '/alerts/test'],
  ] as const)
    expect(
      (await app.call(method, `/api/public/v1${path}`, { token, body: method === 'PUT' ? {} : undefined }))
        .status,
    ).toBe(403);
});

test('private addresses are as for webhooks', async () => {
  const receiver = startReceiver();
  const stage = await startStage({ receiver, env: { SATCHEL_WEBHOOK_ALLOW: '' } });
  const answer = await stage.call('PUT', '/alerts', { url: receiver.url });
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('SATCHEL_WEBHOOK_ALLOW')]);
});
