/** The console in a browser that has never seen it: how soon something is painted, and how soon the overview's numbers are. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { part } from '../../test/support/parts.ts';
import { fillQuickly } from './contacts.ts';
import { makeKey, median, ms, type Row, reported, request, scratchDir, startSatchel } from './harness.ts';
import { seedObjects } from './lists.ts';

const OBJECTS = 100_000;
const CONTACTS = 1_000_000;
const LOADS = 9;
const FIRST_PAINT_MS = 500;
const CREDENTIALS = { email: 'ann@example.org', password: 'a long enough pass phrase' };

export async function measureConsole(): Promise<Row[]> {
  const executablePath = part('chromium');
  if (executablePath === null) throw new Error('there is no chromium on this machine');
  const data_dir = scratchDir();
  const first = await startSatchel({}, data_dir);
  await makeKey(first);
  const { link } = await first.cli(
    'person',
    'add',
    CREDENTIALS.email,
    '--all-projects',
    '--can',
    'administer',
  );
  await post(`${first.url}${new URL(String(link)).pathname}`, { password: CREDENTIALS.password });
  await first.stop();
  seedObjects(data_dir, 'bench', OBJECTS);
  seedContacts(data_dir);
  const satchel = await startSatchel({}, data_dir);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const loads: { painted: number; shown: number }[] = [];
  for (let n = 0; n < LOADS; n += 1) loads.push(await loadOverview(browser, satchel.url));
  await Promise.all([browser.close(), satchel.stop()]);
  const of = `overview of ${OBJECTS.toLocaleString('en')} objects and ${CONTACTS.toLocaleString('en')} contacts`;
  const painted = median(loads.map((load) => load.painted));
  const shown = median(loads.map((load) => load.shown));
  return [
    reported(`${of}: first paint`, ms(painted), `<= ${FIRST_PAINT_MS} ms`, painted <= FIRST_PAINT_MS),
    reported(`${of}: its numbers`, ms(shown), `<= ${FIRST_PAINT_MS} ms`, shown <= FIRST_PAINT_MS),
  ];
}

async function post(url: string, body: object): Promise<void> {
  const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' };
  const response = await request(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 204) throw new Error(`${response.status}: ${await response.text()}`);
}

function seedContacts(data_dir: string): void {
  const db = new Database(join(data_dir, 'satchel.db'), { strict: true });
  const list = db
    .query(
      `INSERT INTO contact_lists (public_id, project_id, name, created_at, updated_at)
       SELECT 'list', id, 'Readers', 0, 0 FROM projects RETURNING id`,
    )
    .values()[0]?.[0];
  fillQuickly(db, [{ list: Number(list), count: CONTACTS, prefix: 'c' }]);
  db.close();
}

/** Milliseconds from the navigation on, by the page's own clock. */
async function loadOverview(browser: Browser, url: string): Promise<{ painted: number; shown: number }> {
  const context = await browser.newContext();
  await context.request.post(`${url}/console/session`, {
    data: CREDENTIALS,
    headers: { 'X-Satchel-Console': '1' },
  });
  const page = await context.newPage();
  await page.addInitScript(`(function look() {
    window.shownAt = performance.now();
    if (!document.querySelector('.tile-value')) requestAnimationFrame(look);
  })()`);
  await page.goto(`${url}/console`);
  await page.locator('.tile-value').first().waitFor();
  const tiles = (await page.locator('.tile-value').allTextContents()).join();
  for (const count of [OBJECTS, CONTACTS]) {
    const told = count.toLocaleString('en');
    if (!tiles.includes(told)) throw new Error(`${told} is not in the overview: ${tiles}`);
  }
  const painted = Number(
    await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`),
  );
  const shown = Number(await page.evaluate('window.shownAt'));
  await context.close();
  return { painted, shown };
}
