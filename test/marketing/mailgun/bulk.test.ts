/** Mailgun's API with recipient-variables: a mail for each, of one message, that goes as bulk mail does. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { holdAll } from '../../../src/operation/holds/store.ts';
import { headersOf } from '../../mail/emails/setup.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { bulkFor, DOMAIN, FROM, type MailgunApp, startMailgunApp } from './setup.ts';

let on: MailgunApp;
beforeAll(async () => {
  on = await startMailgunApp();
});

const mailsOf = (to: string) =>
  on.sql<{
    id: string;
    source: string;
    status: string;
    job_id: string | null;
    merge: string | null;
    error: string | null;
    call_id: string;
  }>(`SELECT * FROM emails WHERE to_email LIKE '${to}' ORDER BY id`);
const lastTo = (address: string) =>
  on.sink.mails.findLast(({ envelope }) => envelope.to.includes(address))?.raw.toString() ?? '';
const count = (text: string) => Number(on.sql<{ n: number }>(text)[0]?.n);
const failuresOf = async (address: string) =>
  (await on.events(`begin=0&event=failed&recipient=${address}`)).map((event) => [
    event.severity,
    event['delivery-status']?.code,
    event.reason,
  ]);

describe('each recipient', () => {
  test('gets a mail that names only them, with their values', async () => {
    const to = ['Ada <ada@example.org>', 'bob@example.org'];
    const variables = {
      'ada@example.org': {
        name: '<b>A</b> %recipient.link%',
        link: 'https://a.example/?x=1&y=2',
        line: 'one\r\nBcc: eve@example.org',
      },
      'BOB@example.org': { name: 'Bob', link: 'b' },
    };
    const answer = await on.client.messages.create(DOMAIN, {
      ...{
        from: FROM,
        to,
        subject: 'For %recipient.name%',
        text: 'T %recipient.link%',
        'recipient-variables': JSON.stringify(variables),
      },
      ...{
        html: '<p>%recipient.name% <a href="%recipient.link%">x</a> %recipient.none% %recipient_email%</p>',
      },
      ...{
        'h:X-Line': '%recipient.line%',
        'h:Reply-To': 'Desk <desk@example.org>',
        'h:List-Unsubscribe': '<%recipient.link%>, <%tag_unsubscribe_email%>',
      },
    });
    await on.pass();
    const [ada, bob] = [lastTo('ada@example.org'), lastTo('bob@example.org')];
    expect(headersOf(ada)).toContain('To: Ada <ada@example.org>');
    expect(headersOf(ada)).not.toContain('bob@');
    expect(headersOf(ada)).toContain('Subject: For <b>A</b> %recipient.link%');
    expect(headersOf(ada)).toContain('X-Line: one Bcc: eve@example.org');
    expect(headersOf(ada)).toContain('Reply-To: Desk <desk@example.org>');
    expect(headersOf(ada)).toContain('List-Unsubscribe: <https://a.example/?x=1&y=2>');
    expect(headersOf(ada)).not.toContain('List-Unsubscribe-Post');
    expect(ada.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('=20', ' ')).toContain(
      '<p><b>A</b> %recipient.link% <a href="https://a.example/?x=1&y=2">x</a> %recipient.none% %recipient_email%</p>',
    );
    expect(bob.replaceAll('=\r\n', '').replaceAll('=20', ' ')).toContain('T b');
    expect(headersOf(bob)).toContain('X-Line: %recipient.line%');
    for (const mail of [ada, bob]) expect(headersOf(mail)).toContain(`Message-ID: ${answer.id}`);
    const left = on.sink.mails.slice(-2).map(({ envelope }) => envelope.to.join());
    expect(left.sort()).toEqual(['ada@example.org', 'bob@example.org']);
    expect([...mailsOf('ada@%'), ...mailsOf('bob@%')]).toMatchObject([
      { source: 'mailgun_bulk', status: 'sent', job_id: null },
      { source: 'mailgun_bulk', status: 'sent', job_id: null },
    ]);
    const record = (await on.app.call('GET', `/api/v1/emails/${mailsOf('ada@%')[0]?.id}`, { key: on.key }))
      .body;
    expect(record).toMatchObject({ source: 'mailgun', job_id: null });
  });

  test('has a Message-ID of their own where the field says so, which the answer repeats as sent', async () => {
    const variables = {
      'ids1@example.org': { id: 'a@app.example' },
      'ids2@example.org': { id: 'b@app.example' },
    };
    const fields = {
      ...bulkFor(Object.keys(variables)),
      'h:Message-Id': '<%recipient.id%>',
      'recipient-variables': JSON.stringify(variables),
    };
    expect((await on.post(fields)).body.id).toBe('<%recipient.id%>');
    await on.pass();
    expect(headersOf(lastTo('ids2@example.org'))).toContain('Message-ID: <b@app.example>');
    expect((await on.post({ ...fields, 'recipient-variables': '{}' })).status).toBe(400);
  });

  test('gets the files, which are kept once', async () => {
    const before = count('SELECT count(*) AS n FROM objects');
    await on.client.messages.create(DOMAIN, {
      ...bulkFor(['file1@example.org', 'file2@example.org'], { html: '<img src="cid:logo.png">' }),
      inline: { data: Buffer.from('PNG!'), filename: 'logo.png', contentType: 'image/png' },
      attachment: { data: Buffer.from('hello'), filename: 'a.txt' },
    } as never);
    expect(count('SELECT count(*) AS n FROM objects')).toBe(before + 2);
    await on.pass();
    for (const address of ['file1@example.org', 'file2@example.org']) {
      expect(lastTo(address)).toMatch(/Content-Id: <logo\.png>[\s\S]*Content-Disposition: inline/i);
      expect(lastTo(address)).toContain(Buffer.from('hello').toString('base64'));
    }
  });

  test('waits for the time of delivery, and may be canceled until then', async () => {
    const at = on.app.clock.now() + 3_600_000;
    await on.post(
      bulkFor(['later1@example.org', 'later2@example.org'], { 'o:deliverytime': new Date(at).toUTCString() }),
    );
    await on.pass();
    expect(mailsOf('later%').map(({ status }) => status)).toEqual(['scheduled', 'scheduled']);
    const path = `/api/v1/emails/${mailsOf('later1%')[0]?.id}/schedule`;
    expect((await on.app.call('DELETE', path, { key: on.mailgun_key })).status).toBe(200);
    await on.pass(1);
    expect(mailsOf('later%').map(({ status }) => status)).toEqual(['canceled', 'sent']);
  });
});

describe('a call', () => {
  test('has a thousand recipients at most, and no copies', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => `r${n}@example.org`);
    expect((await on.post(bulkFor(many))).body.message).toContain('1000');
    for (const field of ['cc', 'bcc'])
      expect(
        (await on.post(bulkFor(['ada@example.org'], { [field]: 'eve@example.org' }))).body.message,
      ).toContain(field);
    for (const variables of ['[]', '{', '{"ada@example.org": 1}'])
      expect((await on.post(bulkFor(['ada@example.org'], { 'recipient-variables': variables }))).status).toBe(
        400,
      );
    expect(mailsOf('r%@example.org')).toEqual([]);
  });

  test('of a thousand is one message and less than 3 KB a recipient', async () => {
    const to = Array.from({ length: 1_000 }, (_, n) => `thousand${n}@example.org`);
    const html = `<p>%recipient.name%</p>${'<p>words of a newsletter</p>'.repeat(400)}`;
    const variables = Object.fromEntries(
      to.map((address) => [
        address,
        {
          name: 'Ann Example',
          list_unsubscribe: `https://shop.example/unsubscribe/?uuid=${crypto.randomUUID()}&key=${'k'.repeat(64)}`,
          unused: 'x'.repeat(2_000),
        },
      ]),
    );
    const pages = () =>
      count('SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size') -
      count('SELECT freelist_count * 4096 AS n FROM pragma_freelist_count');
    const before = pages();
    const fields = {
      html,
      'h:List-Unsubscribe': '<%recipient.list_unsubscribe%>',
      'recipient-variables': JSON.stringify(variables),
    };
    expect((await on.post(bulkFor(to, fields))).status).toBe(200);
    expect(pages() - before - html.length).toBeLessThan(3 * 1024 * 1024);
    expect(count(`SELECT count(*) AS n FROM bulk_contents WHERE length(body_html) = ${html.length}`)).toBe(1);
    expect(count("SELECT count(DISTINCT call_id) AS n FROM emails WHERE to_email LIKE 'thousand%'")).toBe(1);
    expect(
      count("SELECT count(*) AS n FROM emails WHERE to_email LIKE 'thousand%' AND status = 'queued'"),
    ).toBe(1_000);
    await on.pass();
    expect(
      count("SELECT count(*) AS n FROM emails WHERE to_email LIKE 'thousand%' AND status = 'sent'"),
    ).toBe(1_000);
  });

  test('needs can_manage_email_marketing, a mailbox for marketing, and marketing that is enabled', async () => {
    const fields = bulkFor(['who@example.org']);
    const mailer = await on.project.key({ can_send_emails: true });
    expect((await on.post(fields, { key: mailer })).body.message).toContain('can_manage_email_marketing');
    await on.app.services.mailboxes.add(actor, {
      address: `desk@${DOMAIN}`,
      relay: null,
      daily_limit: null,
      return_path: null,
      for_transactional: true,
      for_marketing: false,
    });
    const refused = await on.post({ ...fields, from: `desk@${DOMAIN}` });
    expect([refused.status, String(refused.body.message)]).toEqual([
      400,
      expect.stringContaining(`mail@${DOMAIN}`),
    ]);
    await on.call('PATCH', '/email-marketing/settings', { enabled: false });
    expect((await on.post(fields)).body.message).toContain('--enabled');
    await on.call('PATCH', '/email-marketing/settings', { enabled: true });
    expect(mailsOf('who@%')).toEqual([]);
    expect((await on.post(fields)).status).toBe(200);
  });

  test('by a test key, or with o:testmode, is captured', async () => {
    const rights = { can_send_emails: true, can_manage_email_marketing: true };
    const key = await on.project.key({ ...rights, is_test: true });
    const restricted = await on.project.key({ ...rights, restricted: true, allow_no_origin: true });
    expect((await on.post(bulkFor(['tried1@example.org']), { key })).status).toBe(200);
    expect((await on.post(bulkFor(['tried2@example.org'], { 'o:testmode': 'yes' }))).status).toBe(200);
    expect((await on.post(bulkFor(['tried3@example.org']), { key: restricted })).status).toBe(403);
    await on.pass();
    expect(mailsOf('tried%')).toMatchObject([
      { status: 'sent', is_test: 1 },
      { status: 'sent', is_test: 1 },
    ] as never);
    expect(lastTo('tried1@example.org') + lastTo('tried2@example.org')).toBe('');
  });

  test('is taken whole or not at all', async () => {
    const key = await on.project.key({
      can_send_emails: true,
      can_manage_email_marketing: true,
      email_daily_limit: 3,
    });
    await on.pass();
    const before = count('SELECT count(*) AS n FROM mailgun_events');
    const refused = await on.post(
      bulkFor(['all1@example.org', 'all2@example.org', 'all3@example.org', 'all4@example.org']),
      { key },
    );
    expect([refused.status, Object.keys(refused.body)]).toEqual([429, ['message']]);
    expect([mailsOf('all%'), count('SELECT count(*) AS n FROM mailgun_events')]).toEqual([[], before]);
    expect(
      (await on.post(bulkFor(['all1@example.org', 'all2@example.org', 'all3@example.org']), { key })).status,
    ).toBe(200);
  });

  test('of a body that would swell is refused, and so are links that Mailgun makes', async () => {
    const swelling = {
      html: '%recipient.name%'.repeat(20_000),
      'recipient-variables': JSON.stringify({ 'ada@example.org': { name: 'x'.repeat(3_000) } }),
    };
    expect((await on.post(bulkFor(['ada@example.org'], swelling))).body.message).toContain('bytes');
    expect(
      (await on.post(bulkFor(['ada@example.org'], { html: '<a href="%unsubscribe_url%">' }))).status,
    ).toBe(400);
  });
});

describe('what comes of them', () => {
  test('suppressed addresses get nothing: 605 bounced, 607 complained, 606 left', async () => {
    const { suppressions, projects } = on.app.services;
    const [{ id = 0 } = {}] = on.sql<{ id: number }>("SELECT id FROM projects WHERE slug = 'shop'");
    const owner = projects.findById(id);
    if (!owner) throw new Error('no project');
    const kinds = {
      'hard@example.org': 'hard_bounce',
      'spam@example.org': 'complaint',
      'left@example.org': 'unsubscribed',
      'hand@example.org': 'manual',
    } as const;
    await on.app.services.database.write((tx) => {
      for (const [address, kind] of Object.entries(kinds)) suppressions.add(tx, owner, address, kind);
    });
    const used = () => count(`SELECT sum(n) AS n FROM mailbox_usage`);
    const before = used();
    await on.post(bulkFor(['fine@example.org', ...Object.keys(kinds)]));
    await on.pass();
    expect(on.sink.mails.filter(({ envelope }) => Object.keys(kinds).includes(envelope.to[0] ?? ''))).toEqual(
      [],
    );
    expect(mailsOf('hard@%')).toMatchObject([{ status: 'suppressed' }]);
    expect(await failuresOf('hard@example.org')).toEqual([['permanent', 605, 'suppress-bounce']]);
    expect(await failuresOf('spam@example.org')).toEqual([['permanent', 607, 'suppress-complaint']]);
    expect(await failuresOf('left@example.org')).toEqual([['permanent', 606, 'suppress-unsubscribe']]);
    expect(await failuresOf('hand@example.org')).toEqual([['permanent', 606, 'suppress-unsubscribe']]);
    expect(used()).toBe(before + 1);
  });

  test('a refused address bounces and is suppressed from then on; a deferred one is tried again', async () => {
    on.sink.behavior.rcpt = {
      'gone@example.org': { code: 550, message: '5.1.1 User unknown' },
      'busy@example.org': { code: 451, message: '4.7.1 Come back later' },
    };
    await on.post(bulkFor(['gone@example.org', 'busy@example.org']));
    await on.pass();
    expect(await failuresOf('gone@example.org')).toEqual([['permanent', 550, 'bounce']]);
    expect(await failuresOf('busy@example.org')).toEqual([['temporary', 451, 'generic']]);
    const [event] = await on.events('begin=0&event=failed&recipient=gone@example.org');
    expect(event?.['delivery-status']).toMatchObject({
      'enhanced-code': '5.1.1',
      message: expect.stringContaining('User unknown'),
    });
    on.sink.behavior.rcpt = {};
    await on.pass(2);
    expect((await on.events('begin=0&recipient=busy@example.org')).map(({ event: name }) => name)).toEqual([
      'accepted',
      'failed',
      'delivered',
    ]);
    await on.post(bulkFor(['gone@example.org']));
    await on.pass();
    expect((await failuresOf('gone@example.org')).at(-1)).toEqual(['permanent', 605, 'suppress-bounce']);
    const lifted = await on.ask('DELETE', `/${DOMAIN}/bounces/gone%40example.org`);
    expect([lifted.status, lifted.body]).toEqual([
      200,
      { message: expect.any(String), address: 'gone@example.org' },
    ]);
    expect(on.sql("SELECT 1 FROM audit_events WHERE event = 'suppression.lifted'")).toHaveLength(1);
    expect((await on.ask('DELETE', `/${DOMAIN}/bounces/gone%40example.org`)).status).toBe(404);
    for (const list of ['bounces', 'complaints', 'unsubscribes'])
      expect((await on.ask('DELETE', `/${DOMAIN}/${list}/left%40example.org`)).status).toBe(404);
    const powerless = await on.project.key({ can_read: true });
    expect((await on.ask('DELETE', `/${DOMAIN}/complaints/spam%40example.org`, powerless)).status).toBe(403);
    expect((await on.ask('DELETE', `/${DOMAIN}/complaints/spam%40example.org`)).status).toBe(200);
  });

  test('reports of later are told as they come: a bounce, a refusal because of us, a complaint, an unsubscription', async () => {
    await on.post(bulkFor(['late@example.org']));
    await on.pass();
    const { id = '' } = mailsOf('late@%')[0] ?? {};
    const { database, deliveries } = on.app.services;
    for (const [kind, words] of [
      ['refused', '550 5.7.1 Your address is on our list'],
      ['soft_bounced', '452 4.2.2 Mailbox full'],
      ['bounced', '550 5.1.1 Gone'],
      ['unsubscribed', ''],
      ['complained', ''],
    ] as const)
      await database.write((tx) => deliveries.report(tx, id, kind, { words }));
    const told = await on.events('begin=0&recipient=late@example.org');
    expect(told.map(({ event, severity }) => (severity ? `${event} ${severity}` : event))).toEqual([
      ...['accepted', 'delivered', 'failed permanent', 'failed temporary', 'failed permanent'],
      ...['unsubscribed', 'complained'],
    ]);
    expect(told[2]?.['delivery-status']?.message).toContain('on our list');
    expect(told[4]?.['delivery-status']?.['enhanced-code']).toBe('5.1.1');
  });

  test('an opening is told where its picture was asked for', async () => {
    await on.post(
      bulkFor(['opens@example.org'], { 'o:tracking-opens': 'yes', html: '<html><body>Hi</body></html>' }),
    );
    await on.post(bulkFor(['blind@example.org'], { 'o:tracking-opens': 'yes', 'o:tracking': 'no' }));
    await on.post({
      from: FROM,
      to: 'single@example.org',
      subject: 'One',
      html: '<p>Hi</p>',
      'o:tracking-opens': 'htmlonly',
    });
    await on.pass();
    expect(lastTo('blind@example.org')).not.toContain('/o/');
    for (const address of ['opens@example.org', 'single@example.org']) {
      const path =
        /satchel\.test(\/o\/[0-9a-z-]+\.gif)/.exec(lastTo(address).replaceAll('=\r\n', ''))?.[1] ?? 'none';
      expect(
        (
          await on.app.call('GET', path, {
            headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux) Thunderbird/128' },
          })
        ).status,
      ).toBe(200);
    }
    await on.app.services.clicks.settle();
    await on.pass(1);
    await on.app.services.clicks.settle();
    for (const address of ['opens@example.org', 'single@example.org'])
      expect((await on.events(`begin=0&recipient=${address}`)).map(({ event }) => event)).toEqual([
        'accepted',
        'delivered',
        'opened',
      ]);
  });

  test('somebody who is forgotten is in no event, and what a call was made of goes after thirty days', async () => {
    await on.post(bulkFor(['forget@example.org', 'stay@example.org']));
    await on.pass();
    const [{ call_id = '' } = {}] = mailsOf('stay@%');
    const { privacy, mailgun, projects } = on.app.services;
    const owner = projects.findById(
      on.sql<{ id: number }>("SELECT id FROM projects WHERE slug = 'shop'")[0]?.id ?? 0,
    );
    if (!owner) throw new Error('no project');
    await privacy.forget(actor, owner, 'forget@example.org');
    expect(await on.events('begin=0&recipient=forget@example.org')).toEqual([]);
    expect(JSON.stringify(on.sql('SELECT * FROM mailgun_events'))).not.toContain('forget@');
    expect((await on.events('begin=0&recipient=stay@example.org')).length).toBe(2);
    await on.pass(24 * 29);
    await mailgun.sweep();
    expect(on.sql(`SELECT 1 FROM bulk_contents WHERE call_id = '${call_id}'`)).toHaveLength(1);
    await on.pass(24 * 2);
    await mailgun.sweep();
    expect(on.sql('SELECT 1 FROM bulk_contents')).toEqual([]);
    expect(
      on.sql("SELECT 1 FROM objects WHERE visibility = 'internal' AND mime_type <> 'message/rfc822'"),
    ).toEqual([]);
    expect(mailsOf('stay@%')).toMatchObject([{ merge: null, status: 'sent' }]);
    expect((await on.events('begin=0&recipient=stay@example.org')).length).toBe(2);
  });
});

describe('a server that ends meanwhile', () => {
  test('sends each mail of a call once, after it starts again', async () => {
    const first = await startMailgunApp();
    first.sink.behavior.greeting = { code: 421, message: 'Come back later' };
    const to = ['crash1@example.org', 'crash2@example.org', 'crash3@example.org'];
    expect((await first.post(bulkFor(to))).status).toBe(200);
    await first.app.stop();
    first.sink.behavior = {};
    const { data_dir, clock } = first.app;
    clock.advance(3_600_000);
    const again = await startTestApp({ data_dir, clock, env: { SATCHEL_DNS_SERVERS: first.dns.address } });
    again.app.engine.wake();
    const sent = await first.sink.waitForMails(3);
    await again.app.engine.whenIdle();
    expect(sent.map(({ envelope }) => envelope.to[0]).sort()).toEqual(to);
    expect(first.sink.mails).toHaveLength(3);
  });

  test('has kept nothing of a call that was not accepted, its files neither', async () => {
    const { internal_objects } = on.app.services;
    const keep = internal_objects.keep.bind(internal_objects);
    const before = count('SELECT count(*) AS n FROM emails');
    internal_objects.keep = () => Promise.reject(new Error('cut off'));
    const form = new FormData();
    for (const [name, values] of Object.entries(bulkFor(['cut@example.org'])))
      for (const value of [values].flat()) form.append(name, value);
    form.append('attachment', new File(['only here'], 'a.txt'));
    const headers = { Authorization: `Basic ${btoa(`api:${on.mailgun_key}`)}` };
    const answer = await on.app.call('POST', `/v3/${DOMAIN}/messages`, { headers, body: form });
    internal_objects.keep = keep;
    expect([answer.status, Object.keys(answer.body)]).toEqual([500, ['message']]);
    expect(count('SELECT count(*) AS n FROM emails')).toBe(before);
    const files = new Bun.Glob('**/*').scanSync({ cwd: on.app.data_dir, onlyFiles: true });
    for (const file of files)
      if (!file.includes('satchel.db'))
        expect([file, await Bun.file(`${on.app.data_dir}/${file}`).text()]).not.toEqual([file, 'only here']);
  });

  test('holds what waits of a call once a backup is restored', async () => {
    await on.post(
      bulkFor(['held@example.org'], {
        'o:deliverytime': new Date(on.app.clock.now() + 3_600_000).toUTCString(),
      }),
    );
    await on.app.services.database.write((tx) => holdAll(tx.$client, on.app.clock.now()));
    await on.pass(2);
    expect(mailsOf('held@%')).toMatchObject([{ status: 'scheduled' }]);
  });
});
