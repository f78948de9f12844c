/** Links of marketing mail: a redirect costs little more than the read that finds its target. */
import { join } from 'node:path';
import { createServices } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config.ts';
import { emailLife } from '../../src/mail/emails/service.ts';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { systemClock } from '../../src/platform/host/clock.ts';
import { openDataDirectory } from '../../src/platform/host/data-directory.ts';
import { createLogger } from '../../src/platform/host/logger.ts';
import {
  compare,
  load,
  makeKey,
  type Row,
  rate,
  request,
  row,
  scratchDir,
  spawnListening,
  startSatchel,
} from './harness.ts';

const MAILS = 500;
const CLICKS = 20_000;

export async function measureClicks(): Promise<Row[]> {
  const data_dir = scratchDir();
  const first = await startSatchel({}, data_dir);
  const key = await makeKey(first);
  await first.cli('domain', 'add', 'news.example.com', '--trust', '--default');
  await first.cli('mailbox', 'add', 'news@news.example.com', '--capture', '--for', 'marketing');
  const api = (path: string, body: unknown) =>
    request(`${first.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  await api('/emails/templates', {
    ...{ name: 'news', category: 'marketing', is_marketing: true, layout: 'marketing', subject: 'Hi' },
    ...{ body_html: '<a href="https://shop.example.com/a">a</a>', body_text: 'Hi' },
  });
  await first.stop();
  const tokens = await acceptMails(data_dir);
  const satchel = await startSatchel({}, data_dir);
  const baseline = await spawnListening([
    process.execPath,
    join(import.meta.dir, 'baseline.ts'),
    'read',
    scratchDir(),
  ]);
  const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0' };
  const speed = await compare(
    () =>
      load(CLICKS, 302, (n) =>
        fetch(`${satchel.url}/c/${tokens[n % tokens.length]}`, { headers, redirect: 'manual' }),
      ),
    () => load(CLICKS, 200, () => fetch(baseline.url, { headers })),
    { warm_up: true },
  );
  await Promise.all([satchel.stop(), baseline.stop()]);
  return [
    row('click redirects against a bare server with one indexed read', {
      ours: rate(speed.ours),
      baseline: rate(speed.baseline),
      ratio: speed.ours / speed.baseline,
      at_least: 0.7,
    }),
  ];
}

/** Mails of one source, and the token of each one's link. */
async function acceptMails(data_dir: string): Promise<string[]> {
  const config = loadConfig({ SATCHEL_DATA_DIR: data_dir });
  const clock = systemClock;
  const directory = await openDataDirectory(config, { clock });
  const logger = createLogger({ level: 'error', format: 'text', clock });
  const services = createServices(config, { ...directory, clock, logger });
  const { projects, marketing, marketing_mail, emails } = services;
  const { database } = directory;
  const owner = projects.require('bench');
  await marketing.change(owner.id, { from_name: 'Shop', postal_address: 'Street' }, noNote);
  const of = {
    ...{
      owner,
      list: { public_id: '0'.repeat(26), token_hosts: [], language: null },
      settings: marketing.settings(owner.id),
    },
    ...({
      source: 'sequence',
      template: 'news',
      variables: {},
      preheader: null,
      track_opens: false,
      utm: null,
      is_test: false,
    } as const),
    email_tag: 'bench',
  };
  const tokens: string[] = [];
  for (let n = 0; n < MAILS; n += 1) {
    const contact = {
      ...{ id: n, public_id: `0BENCH${String(n).padStart(20, '0')}`, email: `a${n}@example.com` },
      ...{ first_name: null, last_name: null, custom: {}, contact_token: `t${n}` },
    };
    const id = await database.write((tx) => {
      const plan = marketing_mail.plan(tx, of, contact);
      if (!plan.ok) throw new Error(plan.reason);
      return emails.accept(tx, plan.email).id;
    });
    const email = emailLife.find(database.read, id);
    const body_html = email && emails.contentOf(database.read, email).body_html;
    tokens.push(/\/c\/([0-9a-z-]+)/.exec(body_html ?? '')?.[1] ?? '');
  }
  await services.mailer.stop(0);
  await directory.close();
  return tokens;
}
