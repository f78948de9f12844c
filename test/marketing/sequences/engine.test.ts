/** Sequences running: who gets what when, what ends it, what waits, and that nothing is sent twice. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { starterOf } from '../../../src/console/page/pages/templates/starter.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

let unwritten = 0;

let on: SequenceApp;
beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'offer', 'bye', 'again']) await on.template(slug);
});

const show = async (id: string) => dataOf(await on.call('GET', `/email-sequences/${id}`));

describe('a sequence', () => {
  test('sends each step once, after its delay, and completes', async () => {
    const list = await on.list();
    await on.contact(list, 'ann@example.com', { first_name: 'Ann' });
    const id = await on.active(list, [
      { key: 'a', template: 'hello' },
      { key: 'b', template: 'offer', delay_hours: 24 },
      { key: 'c', template: 'bye', delay_hours: 48, is_final: true },
    ]);
    expect(await on.enroll(id)).toEqual({
      enrolled: 1,
      already: 0,
      refused_suppressed: 0,
      refused_status: 0,
    });
    await on.pass();
    expect(await on.got('ann@example.com')).toEqual(['hello for Ann']);
    await on.pass(23);
    expect(await on.got('ann@example.com')).toHaveLength(1);
    await on.pass(1);
    expect(await on.got('ann@example.com')).toEqual(['hello for Ann', 'offer for Ann']);
    await on.pass(48);
    expect(await on.got('ann@example.com')).toEqual(['hello for Ann', 'offer for Ann', 'bye for Ann']);
    expect(await on.enrollment(id, 'ann@example.com')).toMatchObject({
      state: 'completed',
      step: 'c',
      next_at: null,
    });
    await on.pass(1_000);
    expect(await on.got('ann@example.com')).toHaveLength(3);
    expect((await show(id)).stats).toMatchObject({ enrolled: 1, active: 0, completed: 1, sent: 3 });
    expect(await on.enroll(id)).toEqual({
      enrolled: 0,
      already: 1,
      refused_suppressed: 0,
      refused_status: 0,
    });
  });

  test('skips, routes and exits by its conditions', async () => {
    const list = await on.list();
    for (const name of ['buyer', 'idle']) await on.contact(list, `${name}@example.com`);
    const id = await on.active(list, [
      { key: 'a', template: 'hello' },
      { key: 'b', template: 'offer', delay_hours: 1, condition: { type: 'no_event', event: 'ordered' } },
      {
        key: 'c',
        template: 'bye',
        delay_hours: 2,
        condition: { type: 'event', event: 'ordered', else: { route_to: 'late' } },
        is_final: true,
      },
      { key: 'd', track: 'late', template: 'again', delay_hours: 10, is_final: true },
    ]);
    await on.enroll(id);
    await on.pass();
    const event = { email: 'buyer@example.com', list, event: 'ordered' };
    expect((await on.call('POST', '/email-contacts/events', event)).status).toBe(201);
    const again = await on.call('POST', '/email-contacts/events', event);
    expect({ status: again.status, duplicate: again.body.duplicate }).toEqual({
      status: 200,
      duplicate: true,
    });
    await on.pass(1);
    expect(await on.got('buyer@example.com')).toEqual(['hello for there']);
    expect(await on.got('idle@example.com')).toEqual(['hello for there', 'offer for there']);
    // What follows a skipped step counts from the last sending.
    await on.pass(1);
    expect(await on.got('buyer@example.com')).toEqual(['hello for there', 'bye for there']);
    await on.pass(1);
    expect(await on.enrollment(id, 'idle@example.com')).toMatchObject({
      state: 'active',
      track: 'late',
      step: 'd',
    });
    await on.pass(10);
    expect((await on.got('idle@example.com')).at(-1)).toBe('again for there');
    expect((await show(id)).stats).toMatchObject({ completed: 2, sent: 5 });
  });

  test('ends for whoever leaves, bounces or does what ends it', async () => {
    const list = await on.list();
    const steps = [
      { key: 'a', template: 'hello' },
      { key: 'b', template: 'bye', delay_hours: 5, is_final: true },
    ];
    const contacts: Record<string, Record<string, unknown>> = {};
    for (const name of ['leaves', 'buys', 'kept', 'hand'])
      contacts[name] = await on.contact(list, `${name}@example.com`);
    const id = await on.active(list, steps, { exit_events: ['paid'] });
    await on.enroll(id);
    await on.pass();
    await on.call('POST', `/email-contacts/${contacts.leaves?.id}/unsubscribe`);
    await on.call('POST', '/email-contacts/events', {
      contact_token: contacts.buys?.contact_token,
      event: 'paid',
    });
    await on.call('POST', '/email-suppressions', { email: 'hand@example.com' });
    expect(await on.enrollment(id, 'leaves@example.com')).toMatchObject({
      state: 'exited',
      exit_reason: 'unsubscribed',
    });
    expect(await on.enrollment(id, 'buys@example.com')).toMatchObject({
      state: 'exited',
      exit_reason: 'event',
    });
    expect(await on.enrollment(id, 'hand@example.com')).toMatchObject({
      state: 'exited',
      exit_reason: 'suppressed',
    });
    await on.pass(5);
    for (const name of ['leaves', 'buys', 'hand'])
      expect(await on.got(`${name}@example.com`)).toHaveLength(1);
    expect(await on.got('kept@example.com')).toHaveLength(2);
    expect((await show(id)).stats).toMatchObject({ exited: 3, completed: 1, unsubscribed: 1 });
  });
});

describe('the life of a sequence', () => {
  const steps = [
    { key: 'a', template: 'hello' },
    { key: 'b', template: 'bye', delay_hours: 2, is_final: true },
  ];
  const post = (id: string, verb: string) => on.call('POST', `/email-sequences/${id}/${verb}`);

  test('allows only the transitions there are', async () => {
    const id = await on.draft(await on.list(), steps);
    for (const verb of ['pause', 'resume', 'finish']) expect((await post(id, verb)).status).toBe(409);
    expect((await on.call('POST', `/email-sequences/${id}/enroll`, { all: true })).status).toBe(409);
    expect(dataOf(await post(id, 'activate')).status).toBe('active');
    expect((await post(id, 'activate')).status).toBe(409);
    expect((await post(id, 'resume')).status).toBe(409);
    expect(dataOf(await post(id, 'pause'))).toMatchObject({ status: 'paused', pause_reason: 'manual' });
    expect(dataOf(await post(id, 'resume'))).toMatchObject({ status: 'active', pause_reason: null });
    expect(dataOf(await post(id, 'finish')).status).toBe('finished');
    for (const verb of ['activate', 'pause', 'resume', 'finish'])
      expect((await post(id, verb)).status).toBe(409);
    expect((await on.call('PATCH', `/email-sequences/${id}`, { name: 'X' })).status).toBe(409);
  });

  test('is refused to start with every problem named', async () => {
    const list = await on.list();
    await on.contact(list, 'one@example.com');
    await on.contact(list, 'two@example.com');
    const id = await on.draft(
      list,
      [
        { key: 'a', template: 'nowhere', condition: { type: 'clicked', else: { route_to: 'none' } } },
        { key: 'b', template: 'hello' },
      ],
      { max_recipients: 1 },
    );
    const refused = await post(id, 'activate');
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 422,
      code: 'activation_refused',
    });
    const codes = (refused.body.problems as { code: string; step?: string }[]).map(({ code, step }) => [
      code,
      step,
    ]);
    expect(codes).toEqual([
      ['template_missing', 'a'],
      ['track_end', 'b'],
      ['unknown_track', 'a'],
      ['too_many_recipients', undefined],
    ]);
    const check = dataOf(await on.call('GET', `/email-sequences/${id}/check`));
    expect(check).toEqual({ ready: false, captured: true, problems: refused.body.problems });
    expect((await show(id)).status).toBe('draft');
  });

  test.each([
    ['as HTML', starterOf('html', true)],
    ['as a whole page of HTML', starterOf('html', false)],
    ['as Markdown', starterOf('markdown', true)],
    ['in the text alone', { body_text: starterOf('html', true).body_text, body_html: '<p>Own words</p>' }],
    ['over two lines', { body_html: '<p>WRITE here what\n  the mail is about.</p>', body_text: 'Own words' }],
  ])('is refused with the words that editors start with, %s, and so is a broadcast', async (_, bodies) => {
    const slug = `unwritten${unwritten++}`;
    await on.template(
      slug,
      'body_markdown' in bodies ? { ...bodies, body_html: null, body_text: undefined } : bodies,
    );
    const list = await on.list();
    await on.contact(list, `${slug}@example.com`);
    const id = await on.draft(list, [
      { key: 'a', template: 'hello' },
      { key: 'b', template: slug, is_final: true },
    ]);
    const problem = {
      code: 'unwritten',
      message: expect.stringContaining(`The template ${slug} still says`),
    };
    const check = dataOf(await on.call('GET', `/email-sequences/${id}/check`));
    expect(check).toMatchObject({ ready: false, problems: [{ ...problem, step: 'b' }] });
    expect((await post(id, 'activate')).body).toMatchObject({
      code: 'activation_refused',
      problems: [{ ...problem, step: 'b' }],
    });
    const draft = await on.call('POST', '/email-broadcasts', { name: 'June', list, template: slug });
    const broadcast = String(dataOf(draft, 201).id);
    const found = dataOf(await on.call('GET', `/email-broadcasts/${broadcast}/check`));
    expect(found).toMatchObject({ ready: false, problems: [problem] });
    expect((await on.call('POST', `/email-broadcasts/${broadcast}/send`, {})).status).toBe(422);
    const own = { body_html: '<p>Own</p>', body_text: 'Own: what the mail is about.' };
    await on.setTemplate(slug, 'body_markdown' in bodies ? { body_markdown: 'Own' } : own);
    expect(dataOf(await on.call('GET', `/email-sequences/${id}/check`))).toMatchObject({ ready: true });
  });

  test('sends nothing while it is paused, and what fell due at resume', async () => {
    const list = await on.list();
    await on.contact(list, 'paused@example.com');
    const id = await on.active(list, steps);
    await on.enroll(id);
    await on.pass();
    await post(id, 'pause');
    await on.pass(10);
    expect(await on.got('paused@example.com')).toHaveLength(1);
    await post(id, 'resume');
    await on.pass();
    expect(await on.got('paused@example.com')).toHaveLength(2);
  });

  test('finishing ends what waits', async () => {
    const list = await on.list();
    await on.contact(list, 'unfinished@example.com');
    const id = await on.active(list, steps);
    await on.enroll(id);
    await on.pass();
    await post(id, 'finish');
    expect(await on.enrollment(id, 'unfinished@example.com')).toMatchObject({
      state: 'exited',
      exit_reason: 'sequence_finished',
    });
    await on.pass(10);
    expect(await on.got('unfinished@example.com')).toHaveLength(1);
  });

  test('changes in template, delay and variables only while it runs, and a delay re-times who waits', async () => {
    const list = await on.list();
    await on.contact(list, 'timed@example.com');
    const id = await on.active(list, steps);
    await on.enroll(id);
    await on.pass();
    const patch = (changed: unknown[]) => on.call('PATCH', `/email-sequences/${id}`, { steps: changed });
    expect((await patch([steps[0]])).status).toBe(422);
    expect((await patch([steps[0], { ...steps[1], key: 'z' }])).status).toBe(422);
    expect((await patch([steps[0], { ...steps[1], condition: { type: 'clicked' } }])).status).toBe(422);
    await on.template('bare', { layout: null });
    for (const [template, message] of [
      ['nowhere', 'The template nowhere does not exist in this project.'],
      [
        'bare',
        'The template bare has neither the marketing layout nor its own {{unsubscribe_url}} and {{postal_address}}.',
      ],
    ] as const) {
      const refused = await patch([steps[0], { ...steps[1], template }]);
      expect([refused.status, refused.body.errors]).toEqual([422, { 'steps.1.template': [message] }]);
    }
    expect((await show(id)).steps).toMatchObject([{ template: 'hello' }, { template: 'bye' }]);
    expect((await patch([steps[0], { ...steps[1], template: 'again', delay_hours: 1 }])).status).toBe(200);
    await on.pass(1);
    expect(await on.got('timed@example.com')).toEqual(['hello for there', 'again for there']);
  });

  test('re-times who waits when a change of a delay that was cut off is asked for again', async () => {
    const list = await on.list();
    await on.contact(list, 'cut@example.com');
    const id = await on.active(list, steps);
    await on.enroll(id);
    await on.pass();
    const changed = [steps[0], { ...steps[1], delay_hours: 500 }];
    expect((await on.call('PATCH', `/email-sequences/${id}`, { steps: changed })).status).toBe(200);
    const waits = await on.enrollment(id, 'cut@example.com');
    // As if the commit of the steps had been the last thing before a power cut.
    await on.app.services.database.write((tx) =>
      tx.$client.run('UPDATE enrollments SET next_at = next_at + 1 WHERE public_id = ?', [String(waits?.id)]),
    );
    expect((await on.call('PATCH', `/email-sequences/${id}`, { steps: changed })).status).toBe(200);
    expect(await on.enrollment(id, 'cut@example.com')).toEqual(waits);
  });

  test('sends a step as a test from a draft, also to the suppressed, and moves nothing', async () => {
    const id = await on.draft(await on.list(), steps);
    await on.call('POST', '/email-suppressions', { email: 'author@example.com' });
    const send = (key: string, body: unknown) =>
      on.call('POST', `/email-sequences/${id}/steps/${key}/test`, body);
    expect((await send('a', { to: 'nobody' })).status).toBe(422);
    expect((await send('z', { to: 'author@example.com' })).status).toBe(404);
    const sent = await send('a', { to: 'author@example.com' });
    expect(sent.status).toBe(202);
    const { email_id, job_id } = dataOf(sent, 202);
    await on.pass();
    expect(await on.got('author@example.com')).toEqual(['[Test] hello for there']);
    const email = await on.app.call('GET', `/api/v1/emails/${email_id}`, { key: on.key });
    expect(email.body).toMatchObject({ status: 'sent' });
    const job = await on.app.call('GET', `/api/v1/jobs/${job_id}`, { key: on.key });
    expect(job.body.data).toMatchObject({ status: 'completed' });
    expect(await show(id)).toMatchObject({ status: 'draft', stats: { enrolled: 0, sent: 0 } });
  });
});

describe('what waits', () => {
  const steps = [{ key: 'a', template: 'hello', is_final: true }];

  test('for the window', async () => {
    const list = await on.list();
    await on.contact(list, 'night@example.com');
    const id = await on.active(list, steps);
    const hour = new Date(on.app.clock.now()).getUTCHours();
    const at = (offset: number) => `${String((hour + offset) % 24).padStart(2, '0')}:00`;
    await on.call('PATCH', '/email-marketing/settings', { send_window_start: at(3), send_window_end: at(5) });
    await on.enroll(id);
    await on.pass();
    expect(await on.got('night@example.com')).toEqual([]);
    await on.pass(1);
    expect(await on.got('night@example.com')).toEqual([]);
    await on.pass(2);
    expect(await on.got('night@example.com')).toEqual(['hello for there']);
    await on.call('PATCH', '/email-marketing/settings', { send_window_start: null, send_window_end: null });
  });

  test('for settings that are switched off, and looks again within a minute', async () => {
    const list = await on.list();
    await on.contact(list, 'off@example.com');
    const id = await on.active(list, steps);
    await on.call('PATCH', '/email-marketing/settings', { enabled: false });
    await on.enroll(id);
    await on.pass(5);
    expect(await on.got('off@example.com')).toEqual([]);
    await on.call('PATCH', '/email-marketing/settings', { enabled: true });
    await on.pass(1 / 60);
    expect(await on.got('off@example.com')).toEqual(['hello for there']);
  });

  test.each(['from_name', 'postal_address'])(
    'for settings that lost their %s, and loses nobody',
    async (field) => {
      const list = await on.list();
      const email = `no-${field}@example.com`;
      await on.contact(list, email);
      const id = await on.active(list, steps);
      const { [field]: before } = dataOf(await on.call('GET', '/email-marketing/settings'));
      await on.call('PATCH', '/email-marketing/settings', { [field]: null });
      await on.enroll(id);
      await on.pass(5);
      expect(await on.enrollment(id, email)).toMatchObject({ state: 'active', step: 'a' });
      expect(on.app.services.sequences.explainContact(Number(on.project.id), id, email).at(-1)).toContain(
        `waits for the marketing settings to have a ${field}`,
      );
      await on.call('PATCH', '/email-marketing/settings', { [field]: before });
      await on.pass(1 / 60);
      expect(await on.got(email)).toEqual(['hello for there']);
    },
  );

  test('for a template that was switched off, and loses nobody over it', async () => {
    await on.template('shut');
    const list = await on.list();
    await on.contact(list, 'shut@example.com');
    const id = await on.active(list, [{ key: 'a', template: 'shut', is_final: true }]);
    await on.setTemplate('shut', { is_active: false });
    await on.enroll(id);
    await on.pass(5);
    expect(await on.enrollment(id, 'shut@example.com')).toMatchObject({ state: 'active', step: 'a' });
    await on.setTemplate('shut', { is_active: true });
    await on.pass(1 / 6);
    expect(await on.got('shut@example.com')).toEqual(['shut for there']);
  });

  test('for a template that lost its footer meanwhile, and says so', async () => {
    await on.template('footless');
    const list = await on.list();
    await on.contact(list, 'footless@example.com');
    const id = await on.active(list, [{ key: 'a', template: 'footless', is_final: true }]);
    await on.setTemplate('footless', { layout: null });
    await on.enroll(id);
    await on.pass(5);
    expect(await on.got('footless@example.com')).toEqual([]);
    const told = await on.app.services.sequences.explain(Number(on.project.id), id);
    expect(told.at(-1)).toStartWith('a: The template footless has neither the marketing layout nor its own');
    await on.setTemplate('footless', { layout: 'marketing' });
    await on.pass(1 / 6);
    expect(await on.got('footless@example.com')).toEqual(['footless for there']);
  });

  test('for the daily cap, which holds over sequences and starts afresh at midnight', async () => {
    const list = await on.list();
    for (let n = 0; n < 5; n += 1) await on.contact(list, `cap${n}@example.com`);
    const id = await on.active(list, steps);
    // Another day than that of the tests before.
    await on.pass(24);
    await on.call('PATCH', '/email-marketing/settings', { daily_cap: 2 });
    await on.enroll(id);
    const other = await on.active(list, steps);
    await on.enroll(other);
    const sent = async () => {
      const [one, two] = await Promise.all([show(id), show(other)]);
      return (one.stats as { sent: number }).sent + (two.stats as { sent: number }).sent;
    };
    for (const total of [2, 4, 6, 8, 10, 10]) {
      await on.pass();
      expect(await sent()).toBe(total);
      await on.pass(24);
    }
    await on.call('PATCH', '/email-marketing/settings', { daily_cap: null });
  });
});

describe('enrolling', () => {
  const steps = [{ key: 'a', template: 'hello', delay_hours: 1_000, is_final: true }];

  test('counts those who may not, and takes one form at a time', async () => {
    const list = await on.list();
    const [first] = [
      await on.contact(list, 'e1@example.com', { tags: ['x'] }),
      await on.contact(list, 'e2@example.com'),
    ];
    const gone = await on.contact(list, 'e3@example.com', { tags: ['x'] });
    await on.call('POST', `/email-contacts/${gone.id}/unsubscribe`);
    await on.contact(list, 'e4@example.com', { tags: ['x'] });
    await on.call('POST', '/email-suppressions', { email: 'e4@example.com' });
    const id = await on.active(list, steps);
    const enroll = (body: unknown) => on.call('POST', `/email-sequences/${id}/enroll`, body);
    expect((await enroll({})).status).toBe(422);
    expect((await enroll({ all: true, tags: ['x'] })).status).toBe(422);
    const elsewhere = await on.contact(await on.list(), 'e5@example.com');
    expect((await enroll({ contact_ids: [elsewhere.id] })).status).toBe(422);
    expect(await on.enroll(id, { contact_ids: [first.id] })).toMatchObject({ enrolled: 1 });
    expect(await on.enroll(id, { tags: ['x'] })).toEqual({
      enrolled: 0,
      already: 1,
      refused_suppressed: 2,
      refused_status: 0,
    });
    expect(await on.enroll(id)).toEqual({
      enrolled: 1,
      already: 1,
      refused_suppressed: 2,
      refused_status: 0,
    });
    // Whoever was enrolled counts as that, whatever became of them since.
    await on.call('POST', '/email-suppressions', { email: 'e1@example.com' });
    expect(await on.enroll(id, { contact_ids: [first.id] })).toMatchObject({
      already: 1,
      refused_suppressed: 0,
    });
    const active = await on.call('GET', `/email-sequences/${id}/enrollments?track=main`);
    expect((active.body.meta as { total: number }).total).toBe(2);
  });

  test('past max_recipients enrolls nobody', async () => {
    const list = await on.list();
    for (let n = 0; n < 3; n += 1) await on.contact(list, `max${n}@example.com`);
    const id = await on.active(list, steps, { max_recipients: 3 });
    await on.contact(list, 'max3@example.com');
    const refused = await on.call('POST', `/email-sequences/${id}/enroll`, { all: true });
    expect(refused.status).toBe(422);
    expect((await show(id)).stats).toMatchObject({ enrolled: 0 });
  });

  test('leaves whoever is suppressed out of max_recipients, as it enrolls none of them', async () => {
    const list = await on.list();
    for (let n = 0; n < 3; n += 1) await on.contact(list, `room${n}@example.com`);
    const id = await on.active(list, steps, { max_recipients: 3 });
    await on.contact(list, 'room3@example.com');
    await on.call('POST', '/email-suppressions', { email: 'room0@example.com' });
    expect(await on.enroll(id)).toMatchObject({ enrolled: 3, refused_suppressed: 1 });
  });

  test('past max_recipients enrolls nobody more, also when several ask at once', async () => {
    const list = await on.list();
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await on.contact(list, `race${n}@example.com`)).id);
    const id = await on.active(list, steps, { max_recipients: 3 });
    for (let n = 3; n < 6; n += 1) ids.push((await on.contact(list, `race${n}@example.com`)).id);
    const enroll = (contact_ids: unknown[]) =>
      on.call('POST', `/email-sequences/${id}/enroll`, { contact_ids });
    const answers = await Promise.all([
      enroll(ids.slice(0, 2)),
      enroll(ids.slice(2, 4)),
      enroll(ids.slice(4)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    expect((await show(id)).stats).toMatchObject({ enrolled: 2 });
  });

  test('happens by itself for contacts that become active later, where it is asked for', async () => {
    const list = await on.list();
    await on.contact(list, 'before@example.com', { tags: ['new'] });
    const id = await on.active(list, steps, { auto_enroll_new_contacts: true, enroll_tags: ['new'] });
    await on.contact(list, 'after@example.com', { tags: ['new'] });
    await on.contact(list, 'untagged@example.com');
    expect(await on.enrollment(id, 'after@example.com')).toMatchObject({ state: 'active' });
    expect((await show(id)).stats).toMatchObject({ enrolled: 1 });
    // A pause puts off what they are sent; whoever signs up meanwhile is not forgotten.
    await on.call('POST', `/email-sequences/${id}/pause`);
    await on.contact(list, 'meanwhile@example.com', { tags: ['new'] });
    expect(await on.enrollment(id, 'meanwhile@example.com')).toMatchObject({ state: 'active' });
  });
});

describe('product events', () => {
  test('end an enrollment, but not one that began after them', async () => {
    const list = await on.list();
    const contact = await on.contact(list, 'late@example.com');
    const steps = [{ key: 'a', template: 'hello', delay_hours: 10, is_final: true }];
    const id = await on.active(list, steps, { exit_events: ['paid', 'left'] });
    const before = new Date(on.app.clock.now() - 1_000).toISOString();
    await on.enroll(id);
    const { contact_token } = contact;
    const post = (body: unknown) => on.call('POST', '/email-contacts/events', body);
    expect((await post({ contact_token, event: 'paid', occurred_at: before })).status).toBe(201);
    expect(await on.enrollment(id, 'late@example.com')).toMatchObject({ state: 'active' });
    await post({ contact_token, event: 'left' });
    expect(await on.enrollment(id, 'late@example.com')).toMatchObject({ exit_reason: 'event' });
  });

  test('of one name count once, at their last time, which ends and satisfies as a first one does', async () => {
    const list = await on.list();
    const { contact_token } = await on.contact(list, 'again@example.com');
    const now = on.app.clock.now();
    const at = (offset_ms: number) => new Date(now + offset_ms).toISOString();
    const post = (body: object) =>
      on.call('POST', '/email-contacts/events', { contact_token, event: 'paid', ...body });
    expect((await post({ occurred_at: at(-60_000), meta: { order: 1 } })).status).toBe(201);
    const id = await on.active(list, [{ key: 'a', template: 'hello', delay_hours: 10, is_final: true }], {
      exit_events: ['paid'],
    });
    await on.enroll(id);
    const repeat = async (body: object) => {
      const { status, body: told } = await post(body);
      const { occurred_at, meta } = told.data as Record<string, unknown>;
      return { status, duplicate: told.duplicate, occurred_at, meta };
    };
    const known = { status: 200, duplicate: true, meta: { order: 1 } };
    expect(await repeat({ occurred_at: at(-90_000), meta: { order: 2 } })).toEqual({
      ...{ ...known, occurred_at: at(-60_000) },
    });
    expect(await repeat({ occurred_at: at(-30_000) })).toEqual({ ...known, occurred_at: at(-30_000) });
    expect(await on.enrollment(id, 'again@example.com')).toMatchObject({ state: 'active' });
    on.app.clock.advance(5_000);
    // Without a time it is now, and one ahead of now is no later than that.
    expect(await repeat({ meta: { order: 3 } })).toEqual({
      ...{ ...known, occurred_at: at(5_000), meta: { order: 3 } },
    });
    expect(await on.enrollment(id, 'again@example.com')).toMatchObject({ exit_reason: 'event' });
    expect(await repeat({ occurred_at: '2099-01-01T00:00:00Z' })).toMatchObject({ occurred_at: at(5_000) });
  });

  test('without a fraction, in the second of the enrollment, count as after it; with one, as they say', async () => {
    const list = await on.list();
    for (const name of ['whole', 'exact']) await on.contact(list, `${name}@example.com`);
    const id = await on.active(
      list,
      [
        { key: 'a', template: 'hello', delay_hours: 1, condition: { type: 'event', event: 'seen' } },
        { key: 'b', template: 'bye', delay_hours: 1, is_final: true },
      ],
      { exit_events: ['paid'] },
    );
    on.app.clock.advance(1_000 - (on.app.clock.now() % 1_000) + 700);
    await on.enroll(id);
    const second = new Date(on.app.clock.now()).toISOString().slice(0, 19);
    const post = (email: string, event: string, occurred_at: string) =>
      on.call('POST', '/email-contacts/events', { email, list, event, occurred_at });
    await post('whole@example.com', 'seen', `${second}Z`);
    await post('exact@example.com', 'seen', `${second}.000Z`);
    await post('exact@example.com', 'paid', `${second}.699Z`);
    await on.pass(1);
    expect(await on.got('whole@example.com')).toEqual(['hello for there']);
    expect(await on.got('exact@example.com')).toEqual(['bye for there']);
    await post('whole@example.com', 'paid', `${second}Z`);
    expect(await on.enrollment(id, 'whole@example.com')).toMatchObject({ exit_reason: 'event' });
  });

  test('are refused by field, by name and by tenant, one by one in a batch', async () => {
    const list = await on.list();
    const contact = await on.contact(list, 'events@example.com');
    const { contact_token } = contact;
    const post = (body: unknown) => on.call('POST', '/email-contacts/events', body);
    for (const event of ['clicked', 'unsubscribed', 'bounced', 'complained', 'confirmed', 'Upper', 'a b'])
      expect({ event, status: (await post({ contact_token, event })).status }).toEqual({
        event,
        status: 422,
      });
    expect((await post({ event: 'x' })).status).toBe(422);
    expect((await post({ contact_token: 'unknown', event: 'x' })).status).toBe(404);
    expect((await post({ email: 'nobody@example.com', list, event: 'x' })).status).toBe(404);
    const batch = await on.call('POST', '/email-contacts/events/batch', {
      events: [
        { contact_token, event: 'one', meta: { order: 7 } },
        { contact_token, event: 'one' },
        { contact_token, event: 'clicked' },
        { contact_token: 'unknown', event: 'two' },
        { contact_token },
        'no event',
        { contact_token, event: 'three' },
      ],
    });
    expect(batch.status).toBe(200);
    expect(batch.body.data).toMatchObject([
      { status: 201 },
      { status: 200, duplicate: true },
      { status: 422 },
      { status: 404 },
      { status: 422, message: expect.stringContaining('event') },
      { status: 422 },
      { status: 201 },
    ]);
    for (const events of [[], Array(101).fill({ contact_token, event: 'four' }), 'none'])
      expect((await on.call('POST', '/email-contacts/events/batch', { events })).status).toBe(422);
  });
});
