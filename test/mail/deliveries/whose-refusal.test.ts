/** Whose refusal it is, with a real relay and real reports: what speaks of us leaves the people alone, what speaks of them does not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { REFUSALS_TO_PAUSE } from '../../../src/limits.ts';
import { deliveryChecks } from '../../../src/mail/deliveries/reports.ts';
import { readMailReport } from '../../../src/platform/mail/mail-reports.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../../marketing/settings/setup.ts';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { reportOn } from '../../support/mail-reports.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain } from '../emails/setup.ts';

let on: MarketingApp;
let sink: SmtpSink;
let list = '';
let key = '';
let n = 0;
let ann = '';
let bob = '';

beforeAll(async () => {
  sink = await startSmtpSink();
  on = await startMarketingApp();
  await addDomain(on.app, 'shop.example.com', sink);
  list = await on.list();
  key = await on.project.key({ can_send_emails: true, can_read: true });
});
afterAll(() => sink.stop());

beforeEach(async () => {
  sink.behavior = {};
  n++;
  ann = `ann${n}@example.com`;
  bob = `bob${n}@example.com`;
  for (const email of [ann, bob]) await on.contact(list, email);
});

/** A mail to Ann. */
async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const body = { to: ann, subject: 's', body_text: 't', ...fields };
  const sent = await on.app.call('POST', '/api/v1/emails/send', { key, body });
  on.app.app.engine.wake();
  await on.app.app.engine.whenIdle();
  return String(sent.body.id);
}

async function statusOf(email: string): Promise<unknown> {
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`));
  const suppressed = rowsOf(await on.call('GET', `/email-suppressions?email=${email}`));
  return suppressed.length > 0 ? `${contact?.status}, suppressed` : contact?.status;
}

async function log(id: string): Promise<Record<string, unknown>> {
  return (await on.app.call('GET', `/api/v1/emails/${id}`, { key })).body;
}

const why = async (id: string): Promise<string> => (await run(on.app.data_dir, 'email', 'why', id)).stdout;

describe('at RCPT', () => {
  const OF_US: [code: number, message: string][] = [
    [550, 'relay not permitted'],
    [550, 'JunkMail rejected - mail.shop.example [203.0.113.9] is in an RBL, see http://rbl.example'],
    [550, '5.7.1 Client host blocked'],
    [554, '5.5.1 Error: no valid recipients'],
  ];
  test.each(OF_US)(
    '%d %s leaves the person alone, and is tried again by retry --failed',
    async (code, message) => {
      sink.behavior = { rcpt: { [ann]: { code, message } } };
      const id = await send();
      expect(await log(id)).toMatchObject({
        status: 'failed',
        bounce_type: null,
        refused: [{ about: 'mailbox' }],
      });
      expect(await statusOf(ann)).toBe('active');
      sink.behavior = {};
      const since = on.app.clock.now() - 1_000;
      const { results } = await on.app.services.deliveries.requeueFailed(actor, since);
      expect(results.map((result) => result.id)).toContain(id);
      await on.app.app.engine.whenIdle();
      expect(await log(id)).toMatchObject({ status: 'sent' });
    },
  );

  test('550 No such user is a bounce, even of a server that blocks', async () => {
    sink.behavior = { rcpt: { [ann]: { code: 550, message: 'Unknown user; message blocked' } } };
    expect(await log(await send())).toMatchObject({ status: 'bounced', bounce_type: 'permanent' });
    expect(await statusOf(ann)).toBe('bounced, suppressed');
  });

  test('a full mailbox is a soft bounce, and for good on the fifth day', async () => {
    sink.behavior = { rcpt: { [ann]: { code: 552, message: '5.2.2 Mailbox full' } } };
    const id = await send();
    expect(await log(id)).toMatchObject({ status: 'bounced', bounce_type: 'transient', smtp_code: 552 });
    expect(await why(id)).toContain('it was returned, for a reason that may pass: 552 5.2.2 Mailbox full');
    for (let day = 2; day <= 4; day++) {
      on.app.clock.advance(24 * 3_600_000);
      await send();
    }
    expect(await statusOf(ann)).toBe('active');
    on.app.clock.advance(24 * 3_600_000);
    expect(await log(await send())).toMatchObject({ status: 'bounced', bounce_type: 'permanent' });
    expect(await statusOf(ann)).toBe('bounced, suppressed');
  });
});

describe('after the content', () => {
  test('of a mail to one, a refusal that names the recipient is a bounce', async () => {
    sink.behavior = { data: { code: 550, message: '5.1.1 User unknown' } };
    expect(await log(await send())).toMatchObject({ status: 'bounced', bounce_type: 'permanent' });
    expect(await statusOf(ann)).toBe('bounced, suppressed');
  });

  test("of a mail to several it is nobody's", async () => {
    sink.behavior = { data: { code: 550, message: '5.1.1 User unknown' } };
    expect(await log(await send({ cc: [bob] }))).toMatchObject({ status: 'failed' });
    expect([await statusOf(ann), await statusOf(bob)]).toEqual(['active', 'active']);
  });

  test('what speaks of the message or of us is no bounce', async () => {
    sink.behavior = { data: { code: 550, message: 'Message rejected as spam' } };
    expect(await log(await send())).toMatchObject({ status: 'failed' });
    expect(await statusOf(ann)).toBe('active');
  });
});

describe('in a report', () => {
  /** A report of Postfix's on the last mail, with this Status and Diagnostic-Code. */
  async function take(status: string, diagnostic: string): Promise<unknown> {
    const { raw } = sink.mails.at(-1) ?? { raw: '' };
    const text = reportOn('postfix-unknown-user', { raw, recipients: [ann] })
      .replace(/^Status: .*$/m, `Status: ${status}`)
      .replace(/^Diagnostic-Code: .*\n(?:[ \t].*\n)*/m, `Diagnostic-Code: ${diagnostic}\n`);
    const read = await readMailReport(Buffer.from(text, 'latin1'));
    if (!read) throw new Error('the test made no report');
    const { database, deliveries } = on.app.services;
    return (await database.write((tx) => deliveries.takeReport(tx, read)))?.told[0]?.kind;
  }

  const OF_US: [status: string, diagnostic: string][] = [
    ['5.7.1', 'smtp; 554 5.7.1 Client host [203.0.113.9] blocked using zen.spamhaus.org'],
    ['5.0.0', 'smtp; 550 JunkMail rejected - is in an RBL'],
    ['4.7.0', 'smtp; 421 4.7.0 Throttled'],
  ];
  test.each(OF_US)(
    '%s with %s changes neither the log nor the person, on whatever days',
    async (status, diagnostic) => {
      let id = '';
      for (let day = 1; day <= 6; day++) {
        id = await send();
        expect(await take(status, diagnostic)).toBe('refused');
        on.app.clock.advance(24 * 3_600_000);
      }
      expect(await log(id)).toMatchObject({ status: 'sent', bounced_at: null, error: null });
      expect(await statusOf(ann)).toBe('active');
      expect(await why(id)).toContain(
        `for ${ann} it was not taken because of the mailbox that it came from, which says nothing of the recipient: ${diagnostic.replace('smtp; ', '')}`,
      );
    },
  );

  test('doctor tells how many and in whose words, for a day: a warning, from twenty on a problem', async () => {
    on.app.clock.advance(48 * 3_600_000);
    const looks = (): unknown => deliveryChecks(on.app.services).map(({ run: look }) => look());
    expect(looks()).toMatchObject([[{ status: 'ok' }]]);
    const take19 = async (): Promise<void> => {
      for (let k = 1; k <= REFUSALS_TO_PAUSE - 1; k++) {
        await send();
        await take('5.7.1', `smtp; 554 5.7.1 Blocked ${k}`);
        on.app.clock.advance(1_000);
      }
    };
    await take19();
    const message = expect.stringMatching(
      /^relay refuses us: 19 of the mails from hello@shop\.example\.com came back so in the last 24 hours, the last one at .*: 554 5\.7\.1 Blocked 19 \(reported by .*\)$/,
    );
    const remedy = expect.stringMatching(/^satchel email why \w{26}$/);
    expect(looks()).toMatchObject([[{ status: 'warning', message, remedy }]]);
    await send();
    await take('5.7.1', 'smtp; 554 5.7.1 Blocked');
    expect(looks()).toMatchObject([[{ status: 'problem' }]]);
    expect((await run(on.app.data_dir, 'doctor')).stdout).toContain('relay refuses us: ');
  });
});
