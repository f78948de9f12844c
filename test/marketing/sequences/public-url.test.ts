/** Without an address that others reach, no mail with links goes to others: what says so, and what is refused. */
import { describe, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { marketingChecks } from '../../../src/marketing/checks.ts';
import { actor } from '../../support/helpers.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const REMOTE = 'out@news.example.com';

async function start(public_url: string): Promise<SequenceApp & { sequence: string; news: string }> {
  const on = await startSequenceApp({ env: { SATCHEL_PUBLIC_URL: public_url } });
  await on.template('hello');
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      ...{ name: 'Confirm', slug: 'confirm', category: 'opt_in', subject: 'Confirm' },
      body_text: '{{confirm_url}}',
    },
  });
  const news = await on.list();
  const sequence = await on.draft(news, [{ key: 'a', template: 'hello', is_final: true }]);
  return { ...on, sequence, news };
}

/** A mailbox of the domain with a relay there; nothing is sent in these tests. */
async function addRelay(
  on: SequenceApp,
  relay: string,
  use: { for_marketing: boolean; for_transactional: boolean } = {
    for_marketing: true,
    for_transactional: true,
  },
): Promise<void> {
  await on.app.services.mailboxes.add(actor, {
    ...{ address: REMOTE, relay: parseRelay(relay), daily_limit: null, return_path: null },
    ...use,
  });
}

const findings = async (on: SequenceApp) =>
  (await Promise.all(marketingChecks(on.app.services).map(({ run }) => run())))
    .flat()
    .filter(({ status }) => status === 'problem');

const double = { double_opt_in: true, confirmation_template: 'confirm' };

async function refusals(on: SequenceApp & { sequence: string }) {
  const check = await on.call('GET', `/email-sequences/${on.sequence}/check`);
  const { problems } = check.body.data as { problems: { code: string }[] };
  const activated = await on.call('POST', `/email-sequences/${on.sequence}/activate`);
  const listed = await on.call('POST', '/email-lists', { name: 'Asked', ...double });
  return {
    check: problems.map(({ code }) => code),
    activated: [activated.status, activated.body.code],
    listed: [listed.status, listed.body.code],
    doctor: (await findings(on)).map(({ check: what }) => what),
  };
}

const NOTHING = { check: [], activated: [200, undefined], listed: [201, undefined], doctor: [] };

describe('where the public URL is', () => {
  test.each([[''], ['http://127.0.0.1:8420'], ['http://[::1]:8420'], ['https://satchel.localhost']])(
    '%p, nothing with links goes to a relay elsewhere',
    async (public_url) => {
      const on = await start(public_url);
      await addRelay(on, 'smtp://relay.example.net');
      expect(await refusals(on)).toEqual({
        check: ['public_url'],
        activated: [422, 'activation_refused'],
        listed: [409, 'public_url'],
        doctor: ['public URL'],
      });
      const [found] = await findings(on);
      expect([found?.message, found?.remedy]).toEqual([
        expect.stringContaining(REMOTE),
        expect.stringContaining('SATCHEL_PUBLIC_URL'),
      ]);
    },
  );

  test('unset, a relay on this machine and mailboxes that capture are as good as ever', async () => {
    const on = await start('');
    expect(await refusals(on)).toEqual(NOTHING);
    const beside = await start('');
    await addRelay(beside, 'smtp://127.0.0.1:2525');
    expect(await refusals(beside)).toEqual(NOTHING);
  });

  test('one that others reach, a relay elsewhere is as good as ever', async () => {
    const on = await start('https://satchel.example.com');
    await addRelay(on, 'smtp://relay.example.net');
    expect(await refusals(on)).toEqual(NOTHING);
  });

  test('unset, what runs already is not resumed, no list is made to ask, and none takes sign-ups', async () => {
    const on = await start('');
    const of_sequence = `/email-sequences/${on.sequence}`;
    expect((await on.call('POST', `${of_sequence}/activate`)).status).toBe(200);
    expect((await on.call('POST', `${of_sequence}/pause`)).status).toBe(200);
    const asked = await on.list({ ...double, sign_up_page: true });
    await addRelay(on, 'smtp://relay.example.net');
    const resumed = await on.call('POST', `${of_sequence}/resume`);
    expect([resumed.status, resumed.body.code]).toEqual([409, 'public_url']);
    expect(resumed.body.message).toContain('SATCHEL_PUBLIC_URL');
    const turned = await on.call('PATCH', `/email-lists/${on.news}`, double);
    expect([turned.status, turned.body.code]).toEqual([409, 'public_url']);
    // What else stands in a list that asks already may be changed.
    expect((await on.call('PATCH', `/email-lists/${asked}`, { description: 'x' })).status).toBe(200);
    const signed_up = await on.mirror('POST', `/email-lists/${asked}/subscribe`, { email: 'a@example.com' });
    expect([signed_up.status, signed_up.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'public_url' }),
    ]);
    // A stranger reads this: it names no mailbox.
    expect(signed_up.text).not.toContain(REMOTE);
    for (const method of ['GET', 'POST']) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const form = method === 'POST' ? { headers, body: 'email=a%40example.com' } : {};
      const page = await on.app.call(method, `/join/${asked}`, form);
      // The operator is told by doctor and in the answers of the API; a stranger learns nothing of settings.
      expect([page.status, page.text.includes('takes no sign-ups')]).toEqual([409, true]);
      expect(page.text).not.toContain('SATCHEL_');
      expect(page.text).not.toContain(REMOTE);
    }
    const direct = await on.mirror('POST', `/email-lists/${on.news}/subscribe`, { email: 'a@example.com' });
    expect(direct.status).toBe(202);
  });

  test('unset, what runs sends nothing more once there is a relay elsewhere, and says so, until its links lead here', async () => {
    const on = await start('');
    expect((await on.call('POST', `/email-sequences/${on.sequence}/activate`)).status).toBe(200);
    await on.contact(on.news, 'ann@example.com');
    await on.contact(on.news, 'bob@example.com');
    const enroll = async (name: string) => {
      const { body } = await on.call('GET', `/email-lists/${on.news}/contacts?q=${name}`);
      const [found] = body.data as { id: string }[];
      await on.enroll(on.sequence, { contact_ids: [found?.id] });
      await on.pass();
    };
    await enroll('ann');
    expect(await on.got('ann@example.com')).toHaveLength(1);
    await addRelay(on, 'smtp://relay.example.net');
    await enroll('bob');
    expect(await on.got('bob@example.com')).toEqual([]);
    const told = on.app.services.sequences.explainContact(
      Number(on.project.id),
      on.sequence,
      'bob@example.com',
    );
    expect(told.join(' ')).toContain('SATCHEL_PUBLIC_URL');
    await on.app.services.mailboxes.remove(actor, REMOTE);
    await on.pass(1);
    expect(await on.got('bob@example.com')).toHaveLength(1);
  });

  test('unset, a relay elsewhere for transactional mail keeps lists from asking, as that is how they ask', async () => {
    const on = await start('');
    const asking = await on.list(double);
    await addRelay(on, 'smtp://relay.example.net', { for_marketing: false, for_transactional: true });
    const { listed, ...rest } = await refusals(on);
    expect(listed).toEqual([409, 'public_url']);
    expect(rest).toEqual({ check: [], activated: [200, undefined], doctor: ['public URL'] });
    // Only those that ask from it.
    const change = (fields: object) => on.call('PATCH', `/email-lists/${asking}`, fields);
    expect((await change({ from: 'hello@news.example.com' })).status).toBe(200);
    expect(await findings(on)).toEqual([]);
    const subscribed = await on.mirror('POST', `/email-lists/${asking}/subscribe`, {
      email: 'a@example.com',
    });
    expect(subscribed.status).toBe(202);
    const back = await change({ from: REMOTE });
    expect([back.status, back.body.code]).toEqual([409, 'public_url']);
  });

  test('unset, one for marketing alone keeps no list from asking, as no confirmation goes out from it', async () => {
    const on = await start('');
    await addRelay(on, 'smtp://relay.example.net', { for_marketing: true, for_transactional: false });
    expect(await refusals(on)).toMatchObject({ check: ['public_url'], listed: [201, undefined] });
  });

  test('unset, a relay elsewhere of a domain that the project does not send from is nothing to it', async () => {
    const on = await start('');
    const { sending_domains, mailboxes, projects } = on.app.services;
    await sending_domains.add(actor, { name: 'other.example.com', is_trusted: true });
    await mailboxes.add(actor, {
      ...{ address: 'out@other.example.com', relay: parseRelay('smtp://relay.example.net') },
      for_marketing: true,
    });
    expect((await refusals(on)).listed).toEqual([409, 'public_url']);
    await projects.update(actor, projects.require(on.project.slug), {
      sending_domains: ['news.example.com'],
    });
    expect(await refusals(on)).toEqual({ ...NOTHING, activated: [200, undefined] });
  });

  test('unset, it is the mailboxes of the project that count, and the settings show it', async () => {
    const on = await start('');
    await addRelay(on, 'smtp://relay.example.net');
    const shown = await on.mirror('GET', '/email-marketing/settings?dns=1');
    expect(shown.body.data).toMatchObject({
      captured: false,
      problem_of_links: expect.stringContaining('SATCHEL_PUBLIC_URL'),
    });
    await on.mirror('PATCH', '/email-marketing/settings', { accounts: ['hello@news.example.com'] });
    expect(await refusals(on)).toEqual(NOTHING);
  });
});
