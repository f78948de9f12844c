/** Clicks and opens through the compiled binary: what a redirect was answered for is there after kill -9. */
import { Database } from 'bun:sqlite';
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { BROWSER, linksOf, startMailApp } from '../marketing/mails/setup.ts';
import { startServer } from './binary.ts';

setDefaultTimeout(120_000);
const PEOPLE = 6;
/** Of the promised 200 ms, what a machine that is busy with other tests may take for the rest. */
const LATER_MS = 1_000;

let data_dir = '';
const links: string[] = [];
const pictures: string[] = [];

beforeAll(async () => {
  const mail = await startMailApp();
  await mail.template({ subject: 'Hi', body_html: '<p><a href="https://shop.example.com/a">a</a></p>' });
  for (let n = 0; n < PEOPLE; n += 1) {
    const [clicks, opens] = [`clicks${n}@example.com`, `opens${n}@example.com`];
    for (const email of [clicks, opens]) await mail.contact(mail.list_id, email, {});
    links.push(linksOf((await mail.send(clicks)).mail.html)[0] ?? '');
    const { html = '' } = (await mail.send(opens, mail.step({ track_opens: true }))).mail;
    pictures.push(/src="([^"]+\/o\/[^"]+)"/.exec(html)?.[1] ?? '');
  }
  await mail.app.stop();
  ({ data_dir } = mail.app);
});

test('each click and open is on disk soon after its answer, while others wait to count', async () => {
  const server = await startServer(data_dir);
  const ask = async (address: string) => {
    const { pathname } = new URL(address);
    const options: RequestInit = { redirect: 'manual', headers: { 'User-Agent': BROWSER } };
    expect([200, 302]).toContain((await fetch(server.url + pathname, options)).status);
  };
  for (const [n, link] of links.entries()) {
    await ask(link);
    await ask(pictures[n] ?? '');
    // The first has been written, and waits for what may make a burst of it.
    if (n === 0) await Bun.sleep(LATER_MS);
  }
  await Bun.sleep(LATER_MS);
  await server.end('SIGKILL');
  const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
  const kept = db.query('SELECT position, flag FROM email_clicks ORDER BY position, id').all();
  db.close();
  const [opened, clicked] = [0, 1].map((position) => Array(PEOPLE).fill({ position, flag: null }));
  expect(kept).toEqual([...(opened ?? []), ...(clicked ?? [])]);
});
