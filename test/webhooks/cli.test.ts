/** `satchel webhook`: each verb, beside a running server. */
import { beforeAll, expect, test } from 'bun:test';
import { run } from '../support/command.ts';
import { type Hook, startWebhookApp, type WebhookApp } from './setup.ts';

let on: WebhookApp;
let hook: Hook;
beforeAll(async () => {
  on = await startWebhookApp({ env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
});

const satchel = (...args: string[]) => run(on.app.data_dir, 'webhook', ...args, '--project', 'shop');
const PUBLIC = 'https://hooks.example.com/';

test('add prints the id and the secret, which no other verb shows', async () => {
  const added = await satchel('add', PUBLIC, '--types', 'email.sent,email.bounced', '--description', 'Shop');
  const [id = '', secret = ''] = added.stdout.split('\n');
  hook = { id, secret };
  expect([added.exit, secret]).toEqual([0, expect.stringMatching(/^whsec_/)]);
  const shown = await satchel('show', id);
  expect(shown.stdout).toContain('email.sent');
  expect((await satchel('list')).stdout).toMatch(/hooks\.example\.com\/ +yes/);
  for (const { stdout } of [shown, await satchel('list')]) expect(stdout).not.toContain(secret);
});

test.each([
  [['add', 'http://hooks.example.com'], 1, 'must begin with https://'],
  [['add', 'https://127.0.0.2/'], 1, 'this machine'],
  [['add', 'nonsense'], 1, 'url'],
  [['add', PUBLIC, '--types', 'email.read'], 1, 'must be one of'],
  [['change', '01J00000000000000000000000', '--on'], 1, 'Webhook not found'],
])('%j is refused', async (args, exit, told) => {
  const refused = await satchel(...args);
  expect([refused.exit, refused.stderr]).toEqual([exit, expect.stringContaining(told)]);
});

test('change changes what is given, and switches', async () => {
  const record = async () => {
    // What a turn of the server reads is of one moment.
    await Bun.sleep(0);
    return on.app.services.webhooks.require(on.project.id, hook.id);
  };
  expect((await satchel('change', hook.id, '--types', 'all', '--description', '', '--off')).exit).toBe(0);
  expect(await record()).toMatchObject({ types: null, description: null, is_active: false });
  await satchel('change', hook.id, '--url', `${PUBLIC}x`, '--on');
  expect(await record()).toMatchObject({ url: `${PUBLIC}x`, is_active: true });
  const rotated = await satchel('rotate', hook.id);
  expect(rotated.stdout).toMatch(/^whsec_/);
});

test('test, deliveries and replay tell what came of it, and remove says what goes along', async () => {
  const { id } = await on.hook('/cli', { types: ['object.created'] });
  await on.upload();
  await on.receiver.await('/cli', 1);
  await on.settled({ id, secret: '' }, ([one]) => one?.status === 'delivered');
  const listed = await satchel('deliveries', id);
  expect(listed.stdout).toMatch(/object\.created +delivered +1/);
  const [delivery] = await on.deliveries({ id, secret: '' });
  const replayed = await satchel('replay', id, String(delivery?.id));
  expect(replayed.stdout).toBe(`The delivery ${delivery?.id} is sent again.\n`);
  // The server hears of it; the command goes by the clock of the machine.
  on.app.clock.at_ms = Date.now() + 60_000;
  await on.receiver.await('/cli', 2);
  // A command reads its own environment, in which nothing is allowed.
  const tested = await satchel('test', id);
  expect([tested.exit, tested.stdout]).toEqual([
    1,
    expect.stringContaining('was not taken. Not sent: its address'),
  ]);
  const asked = await satchel('remove', id);
  expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining('and with it 2 deliveries')]);
  expect((await satchel('remove', id, '--yes')).exit).toBe(0);
  expect((await satchel('show', id)).exit).toBe(1);
  await Bun.sleep(0);
  expect(on.app.services.webhooks.list(on.project.id)).toHaveLength(1);
});
