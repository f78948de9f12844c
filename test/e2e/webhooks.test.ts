/** Webhooks of the compiled binary: by TLS to a name, from the shell, and through a kill. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { atEnd } from '../support/cleanup.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from '../support/smtp-certificates.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);
const NAME = 'relay.elsewhere.test';

const got: { id: string; body: string; headers: Record<string, string> }[] = [];
let hangs = false;
const receiver = Bun.serve({
  ...{ hostname: '127.0.0.1', port: 0, tls: SERVER_CERTIFICATES.elsewhere },
  async fetch(request) {
    const headers = request.headers.toJSON();
    got.push({ id: headers['webhook-id'] ?? '', body: await request.text(), headers });
    if (hangs) await new Promise(() => {});
    return new Response('ok');
  },
});
atEnd(() => receiver.stop(true));

test('what was answered is told by TLS, though it is killed in between, with the same id if it is told twice', async () => {
  const dns = await startDnsServer({ [NAME]: { a: ['127.0.0.1'] } });
  atEnd(() => dns.stop());
  const data_dir = makeTempDir();
  const ca = join(data_dir, '..', `ca-${process.pid}.pem`);
  writeFileSync(ca, TEST_CA_PEM);
  const env = {
    ...{ SATCHEL_DNS_SERVERS: dns.address, SATCHEL_WEBHOOK_ALLOW: NAME, NODE_EXTRA_CA_CERTS: ca },
    SATCHEL_DATA_DIR: data_dir,
  };
  let server = await startServer(data_dir, env);
  const key = await makeKey(data_dir);
  const url = `https://${NAME}:${receiver.port}/hook`;
  const on = ['--project', 'shop', '--json'];
  const added = await satchel(['webhook', 'add', url, '--types', 'object.created', ...on], { env });
  expect(added.exit).toBe(0);
  const { id = '', secret = '' } = added.json as { id?: string; secret?: string };
  const tested = await satchel(['webhook', 'test', id, ...on], { env });
  expect(tested).toMatchObject({ exit: 0, json: { status: 'delivered', response_status: 200 } });
  const [first] = got.splice(0);
  expect(first && new Webhook(secret).verify(first.body, first.headers)).toMatchObject({
    type: 'webhook.test',
  });

  const stored: string[] = [];
  const upload = async (): Promise<void> => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'a.txt');
    const options = { method: 'POST', headers: { 'X-API-Key': key }, body: form };
    const answer = await fetch(`${server.url}/api/v1/objects`, options).catch(() => null);
    // A kill may come before the answer, or in the middle of it.
    const body: unknown = answer?.status === 201 ? await answer.json().catch(() => null) : null;
    if (body !== null && typeof body === 'object' && 'public_id' in body) stored.push(String(body.public_id));
  };
  // In the middle of tries that hang.
  hangs = true;
  const uploads = Array.from({ length: 20 }, upload);
  await until(() => got.length >= 4);
  await server.end('SIGKILL');
  await Promise.all(uploads);
  hangs = false;
  // Nobody serves: the event waits for the next start.
  const file = join(data_dir, '..', `put-${process.pid}.txt`);
  writeFileSync(file, 'from the shell');
  const put = await satchel(['object', 'put', file, ...on], { env });
  stored.push(String(put.json.public_id));
  server = await startServer(data_dir, env);
  expect(stored.length).toBeGreaterThan(1);
  const idOf = ({ body }: { body: string }): string => JSON.parse(body).data.public_id;
  await until(() => {
    const told = new Set(got.map(idOf));
    return stored.every((each) => told.has(each));
  });
  const ids = new Map<string, Set<string>>();
  for (const each of got) ids.set(idOf(each), (ids.get(idOf(each)) ?? new Set()).add(each.id));
  for (const of of ids.values()) expect(of.size).toBe(1);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(server.stderr()).not.toContain(secret);
});
