/** Passkeys in the compiled executable, where the library of them is loaded in another order than elsewhere. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Authenticator } from '../support/authenticator.ts';
import { parseObject } from '../support/helpers.ts';
import { makeDataDir } from '../support/temp.ts';
import { satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);
const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'http://localhost:8420';

test('adds a passkey and signs in by it', async () => {
  const data_dir = makeDataDir();
  const { url } = await startServer(data_dir, {}, [], ['--public-url', ORIGIN]);
  const send = async (path: string, body: object | null, cookie = '') => {
    const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json', Cookie: cookie };
    const answer = await fetch(`${url}/console${path}`, {
      ...{ method: 'POST', headers, body: body && JSON.stringify(body) },
    });
    const set = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { status: answer.status, cookie: set, body: parseObject(await answer.text()) };
  };
  const made = await satchel(['person', 'add', 'ann@example.com', '--all-projects', '--data-dir', data_dir]);
  const link = /\/welcome\/\S+/.exec(made.stdout)?.[0] ?? '';
  expect((await send(link, { password: PASSWORD })).status).toBe(204);
  const { cookie } = await send('/session', { email: 'ann@example.com', password: PASSWORD });
  const device = new Authenticator({ origin: ORIGIN, rp_id: 'localhost' });
  const asked = await send('/passkeys/options', {}, cookie);
  const added = await send('/passkeys', { name: 'Laptop', response: device.make(asked.body) }, cookie);
  expect([added.status, added.body]).toMatchObject([201, { name: 'Laptop', host: 'localhost' }]);
  const begun = await send('/session/passkey/options', null);
  const signed_in = await send('/session/passkey', { response: device.sign(begun.body) });
  expect([signed_in.status, signed_in.cookie]).toEqual([204, expect.stringContaining('satchel=')]);
  const listed = await satchel(['person', 'list', '--data-dir', data_dir]);
  expect(listed.stdout).toContain('passkeys');
});
