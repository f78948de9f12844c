/** kill -9 while an A/B of a broadcast goes out: nobody is left out, and nobody gets two mails. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { startSmtpSink, subjectOf } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, type Server, satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);
const COUNT = 240;
const DOMAIN = 'mail.example.com';

test('kill -9 in the share, in testing, at the decision and in the rest', async () => {
  const sink = await startSmtpSink();
  const dns = await startDnsServer({
    'example.org': { mx: [{ exchange: 'mx.example.org', preference: 1 }] },
  });
  const dir = makeTempDir();
  const env = { SATCHEL_DNS_SERVERS: dns.address };
  let server: Server = await startServer(dir, env);
  const restart = async (): Promise<void> => {
    await server.end('SIGKILL');
    server = await startServer(dir, env);
  };
  const key = await makeKey(dir, 'read,write,email,email_template,marketing');
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok || !isPlainObject(answer)) throw new Error(JSON.stringify(answer));
    return isPlainObject(answer.data) ? answer.data : answer;
  };
  const shell = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { exit, json, stderr } = await satchel([...args, '--data-dir', dir, '--json'], { env });
    if (exit !== 0) throw new Error(stderr);
    return json;
  };
  const { records } = await shell('domain', 'add', DOMAIN, '--default', '--trust');
  for (const { name, value } of records as { name: string; value: string }[]) dns.set(name, { txt: [value] });
  const relay = `smtp://127.0.0.1:${sink.port}`;
  // So slow that each kill comes in the middle.
  await shell('mailbox', 'add', `a@${DOMAIN}`, '--smtp', relay, '--for', 'marketing', '--rate', '80/s');
  await call('PATCH', '/email-marketing/settings', {
    enabled: true,
    from_name: 'Shop',
    postal_address: '1 High Street',
  });
  await call('POST', '/emails/templates', {
    ...{ name: 'news', slug: 'news', category: 'marketing', is_marketing: true, layout: 'marketing' },
    ...{ subject: 'A', body_text: 'Look', body_html: '<p>Look</p>' },
  });
  const list = String(
    (await call('POST', '/email-lists', { name: 'l', default_consent_basis: 'consent' })).id,
  );
  await call('POST', `/email-lists/${list}/contacts`, { email: 'p@example.org' });
  await server.end('SIGTERM');
  addAlike(dir);
  server = await startServer(dir, env);
  const variants = [{ name: 'A' }, { name: 'B', subject: 'B' }];
  const ab = { variants, share: 50, decide_by: 'manual' };
  const { id } = await call('POST', '/email-broadcasts', { name: 'June', list, template: 'news', ab });
  const show = () => call('GET', `/email-broadcasts/${id}`);
  const statusOf = async () => (await show()).status;

  await call('POST', `/email-broadcasts/${id}/send`, {});
  await until(() => sink.mails.length > 20);
  await restart();
  await until(async () => (await statusOf()) === 'testing');
  await restart();
  expect(await statusOf()).toBe('testing');
  await until(async () => ((await show()).stats as { waiting: number }).waiting === 0);
  const in_share = ((await show()).stats as { sent: number }).sent;
  expect(in_share).toBe(COUNT / 2);
  await call('POST', `/email-broadcasts/${id}/decide`, { variant: 'B' });
  await restart();
  expect((await show()).ab).toMatchObject({ winner: 'B' });
  await until(() => sink.mails.length > in_share + 30);
  await restart();
  await until(async () => (await statusOf()) === 'sent');
  expect(await show()).toMatchObject({ stats: { sent: COUNT, to_come: 0, lost: 0 } });

  const mails = new Map<string, Set<string>>();
  for (const mail of sink.mails) {
    const to = String(mail.envelope.to[0]);
    const message_id = /^Message-ID: (\S+)/im.exec(mail.raw.toString())?.[1] ?? '';
    mails.set(to, (mails.get(to) ?? new Set()).add(`${subjectOf(mail)} ${message_id}`));
  }
  // What was in flight at a kill may arrive twice, as one and the same mail.
  expect([mails.size, [...mails.values()].filter((of) => of.size > 1)]).toEqual([COUNT, []]);
  const recipients = new Database(join(dir, 'satchel.db'), { readonly: true })
    .query<{ variant: number | null; n: number }, []>(
      'SELECT variant, count(*) AS n FROM broadcast_recipients GROUP BY variant ORDER BY variant',
    )
    .all();
  const [rest, a, b] = recipients.map(({ n }) => n);
  expect([rest, a, b]).toEqual([COUNT / 2, COUNT / 4, COUNT / 4]);
  const subjects = [...mails.values()].map((of) => [...of][0]?.split(' ')[0]);
  expect(subjects.filter((subject) => subject === 'A')).toHaveLength(a ?? 0);
  expect(await server.end('SIGTERM')).toBe(0);
  await Promise.all([sink.stop(), dns.stop()]);
});

/** As many more as make COUNT, like the one contact that is there. */
function addAlike(dir: string): void {
  const db = new Database(join(dir, 'satchel.db'));
  db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
     INSERT INTO contacts (public_id, project_id, list_id, email, custom, status, contact_token, consent_basis,
       consent_at, source_platform, status_changed_at, created_at, updated_at)
     SELECT printf('%s%06d', substr(public_id, 1, 20), i), project_id, list_id, printf('p%d@example.org', i), custom, status,
       printf('%s-%d', contact_token, i), consent_basis, consent_at, source_platform, status_changed_at, created_at, updated_at
     FROM contacts, n ORDER BY i`,
    [COUNT],
  );
  db.close();
}
