/** Writing a sequence: what a draft may be, what it never can be, and what may change later. */

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { MAX_CONDITION_DEPTH } from '../../../src/marketing/sequences/steps.ts';
import { errorsOf } from '../../mail/emails/setup.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const STEP = { key: 'a', template: 'hello', is_final: true };

let on: SequenceApp;
let list = '';
beforeAll(async () => {
  on = await startSequenceApp();
  await on.template('hello');
});
beforeEach(async () => {
  list = await on.list();
});

const create = (fields: Record<string, unknown>) =>
  on.call('POST', '/email-sequences', { name: 'Welcome', list, max_recipients: 10, ...fields });
const count = (): unknown =>
  on.app.services.database.read.$client
    .query('SELECT count(*) AS n, max(updated_at) AS at FROM sequences')
    .get();
const nested = (depth: number): unknown =>
  depth === 0 ? { type: 'always' } : { type: 'all', of: [nested(depth - 1)] };

test('a draft may be incomplete, and answers with every default and its conditions in words', async () => {
  const bare = dataOf(await create({}), 201);
  expect(bare).toMatchObject({
    ...{ status: 'draft', pause_reason: null, list, max_recipients: 10, exit_events: [], enroll_tags: [] },
    ...{ auto_enroll_new_contacts: false, track_opens: false, utm: null, steps: [] },
  });
  const condition = {
    type: 'all',
    of: [{ type: 'clicked' }, { type: 'no_event', event: 'paid' }],
    else: 'exit',
  };
  const { steps } = dataOf(
    await create({
      steps: [
        { key: 'a', template: 'nowhere', variables: { n: 7, yes: true, no: null } },
        { ...STEP, key: 'b', condition },
      ],
    }),
    201,
  );
  expect(steps).toMatchObject([
    {
      ...{ key: 'a', track: 'main', position: 0, template: 'nowhere', delay_hours: 0, is_final: false },
      ...{
        variables: { n: '7', yes: 'true' },
        condition: { type: 'always', else: 'skip' },
        condition_text: 'always',
      },
    },
    {
      ...{ key: 'b', position: 1, is_final: true, condition },
      condition_text:
        'a link of the last message was clicked, and the event paid did not happen since the enrollment; otherwise the contact leaves the sequence',
    },
  ]);
});

describe('what can never be is refused at once, by its field:', () => {
  const condition = (of: unknown) => ({ steps: [{ ...STEP, condition: of }] });
  const BAD: [what: string, fields: Record<string, unknown>, errors: string[]][] = [
    ['an unknown condition', condition({ type: 'opened' }), ['steps.0.condition.type']],
    [
      'an unknown condition inside',
      condition({ type: 'all', of: [{ type: 'opened' }] }),
      ['steps.0.condition.of.0.type'],
    ],
    ['all of nothing', condition({ type: 'all', of: [] }), ['steps.0.condition.of']],
    [
      'conditions too deep',
      condition(nested(MAX_CONDITION_DEPTH + 1)),
      [`steps.0.condition${'.of.0'.repeat(MAX_CONDITION_DEPTH)}.of`],
    ],
    ['an event without a name', condition({ type: 'event' }), ['steps.0.condition.event']],
    ['an event that is no slug', condition({ type: 'no_event', event: 'A b' }), ['steps.0.condition.event']],
    ['another else', condition({ type: 'clicked', else: 'stop' }), ['steps.0.condition.else']],
    [
      'a route to no name',
      condition({ type: 'clicked', else: { route_to: '' } }),
      ['steps.0.condition.else.route_to'],
    ],
    ['the same key twice', { steps: [STEP, STEP] }, ['steps.1.key']],
    ['a key with a slash', { steps: [{ ...STEP, key: 'a/b' }] }, ['steps.0.key']],
    ['a negative delay', { steps: [{ ...STEP, delay_hours: -1 }] }, ['steps.0.delay_hours']],
    ['half an hour', { steps: [{ ...STEP, delay_hours: 0.5 }] }, ['steps.0.delay_hours']],
    ['a variable that is a list', { steps: [{ ...STEP, variables: { x: [1] } }] }, ['steps.0.variables.x']],
    ['an exit event that is no slug', { exit_events: ['paid', 'Not paid'] }, ['exit_events.1']],
    ['nobody', { max_recipients: 0 }, ['max_recipients']],
    ['a list of nobody', { list: '01J00000000000000000000000' }, ['list']],
    [
      'several at once',
      { list: '01J00000000000000000000000', exit_events: ['A'], steps: [STEP, STEP] },
      ['list', 'steps.1.key', 'exit_events.0'],
    ],
  ];
  for (const [what, fields, errors] of BAD)
    test(what, async () => {
      const before = count();
      const refused = await create(fields);
      expect([refused.status, errorsOf(refused).toSorted()]).toEqual([422, errors.toSorted()]);
      expect(count()).toEqual(before);
      const draft = await on.draft(list, [STEP]);
      const kept = dataOf(await on.call('GET', `/email-sequences/${draft}`));
      expect((await on.call('PATCH', `/email-sequences/${draft}`, fields)).status).toBe(422);
      expect(dataOf(await on.call('GET', `/email-sequences/${draft}`))).toEqual(kept);
    });

  test('conditions just deep enough are taken', async () => {
    expect((await create(condition(nested(MAX_CONDITION_DEPTH)))).status).toBe(201);
  });
});

test('steps are replaced whole, null clears nothing, and what is not given stays', async () => {
  const id = await on.draft(list, [STEP, { ...STEP, key: 'b' }], {
    exit_events: ['paid'],
    track_opens: true,
  });
  const patch = (fields: Record<string, unknown>) => on.call('PATCH', `/email-sequences/${id}`, fields);
  expect(dataOf(await patch({ steps: [{ ...STEP, key: 'c' }] }))).toMatchObject({
    ...{ name: 'Welcome', exit_events: ['paid'], track_opens: true },
    steps: [{ key: 'c' }],
  });
  const refused = await patch({ name: null, steps: null });
  expect([refused.status, errorsOf(refused).toSorted()]).toEqual([422, ['name', 'steps']]);
  expect(dataOf(await patch({}))).toMatchObject({ name: 'Welcome', steps: [{ key: 'c' }] });
});

test('the list changes while it is a draft, to an open one of the project, and never after', async () => {
  const id = await on.draft(list, [STEP]);
  const other = await on.list();
  const archived = await on.list();
  await on.call('PATCH', `/email-lists/${archived}`, { archived: true });
  const patch = (to: unknown) => on.call('PATCH', `/email-sequences/${id}`, { list: to });
  expect(dataOf(await patch(other))).toMatchObject({ list: other });
  expect([(await patch(archived)).status, errorsOf(await patch(null))]).toEqual([409, ['list']]);
  expect((await patch('01J00000000000000000000000')).status).toBe(422);
  expect((await create({ list: archived })).body).toMatchObject({ code: 'list_archived' });
  dataOf(await on.call('POST', `/email-sequences/${id}/activate`));
  expect((await patch(list)).status).toBe(409);
  expect(dataOf(await patch(other))).toMatchObject({ list: other, status: 'active' });
});

test('a list shows those of one status where that is asked for, and counts them alone', async () => {
  const kept = String(dataOf(await create({ name: 'Kept' }), 201).id);
  const ended = await on.active(list, [STEP]);
  dataOf(await on.call('POST', `/email-sequences/${ended}/finish`));
  const finished = await on.call('GET', '/email-sequences?status=finished&per_page=1');
  expect(finished.body).toMatchObject({ data: [{ id: ended }], meta: { total: 1 } });
  const drafts = (await on.call('GET', '/email-sequences?status=draft')).body.data as { id: string }[];
  expect(drafts.map(({ id }) => id)).toContain(kept);
  expect(drafts.map(({ id }) => id)).not.toContain(ended);
  expect((await on.call('GET', '/email-sequences?status=gone')).status).toBe(422);
});

const STOPS: ['active' | 'paused', string | null][] = [
  ['active', null],
  ['paused', 'pause'],
];
for (const [status, verb] of STOPS)
  test(`one that is ${status} takes a name, opens and a maximum, and nothing that decides who gets mail`, async () => {
    const fields = { exit_events: ['paid', 'left'], enroll_tags: ['a'], auto_enroll_new_contacts: true };
    const id = await on.active(list, [STEP], fields);
    if (verb) dataOf(await on.call('POST', `/email-sequences/${id}/${verb}`));
    const patch = (changes: Record<string, unknown>) => on.call('PATCH', `/email-sequences/${id}`, changes);
    const before = dataOf(await on.call('GET', `/email-sequences/${id}`));
    for (const change of [
      { exit_events: ['paid'] },
      { exit_events: [] },
      { enroll_tags: ['a', 'b'] },
      { auto_enroll_new_contacts: false },
      { name: 'Other', list: await on.list() },
    ]) {
      const refused = await patch(change);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringContaining('Change them in a copy'),
      ]);
    }
    expect(dataOf(await on.call('GET', `/email-sequences/${id}`))).toEqual(before);
    // What is as it was is no change, in whatever order.
    const kept = { ...fields, exit_events: ['left', 'paid'], list };
    const taken = dataOf(
      await patch({ ...kept, name: 'New', track_opens: true, max_recipients: 7, steps: [STEP] }),
    );
    expect(taken).toMatchObject({ status, name: 'New', track_opens: true, max_recipients: 7 });
    const other = dataOf(await patch({ steps: [{ ...STEP, preheader: 'Look, {{first_name}}' }] }));
    expect(other.steps).toMatchObject([{ preheader: 'Look, {{first_name}}' }]);
    const path = `/email-sequences/${id}`;
    expect(dataOf(await on.call('POST', `${path}/preview`, {})).timeline).toMatchObject([
      { preheader: 'Look, there' },
    ]);
    expect(dataOf(await on.call('POST', `${path}/copy`), 201).steps).toEqual([
      expect.objectContaining({ preheader: 'Look, {{first_name}}' }),
    ]);
    expect((await patch({ steps: [{ ...STEP, preheader: 'x'.repeat(201) }] })).status).toBe(422);
    expect(dataOf(await patch({ steps: [STEP] })).steps).toMatchObject([{ preheader: null }]);
  });

for (const plane of ['call', 'mirror'] as const)
  test(`a copy is a draft of the same, with nobody in it (${plane})`, async () => {
    await on.contact(list, `${plane}@example.com`, { tags: [plane] });
    const fields = { exit_events: ['paid'], enroll_tags: [plane], track_opens: true, max_recipients: 5 };
    const id = await on.active(list, [STEP], { ...fields, name: 'N'.repeat(255) });
    await on.enroll(id, { tags: [plane] });
    dataOf(await on.call('POST', `/email-sequences/${id}/finish`));
    const made = await on[plane]('POST', `/email-sequences/${id}/copy`);
    const copy = dataOf(made, 201);
    expect(copy).toMatchObject({
      ...{
        ...fields,
        status: 'draft',
        list,
        name: `${'N'.repeat(248)} (copy)`,
        stats: { enrolled: 0, sent: 0 },
      },
      steps: [{ key: STEP.key, template: STEP.template }],
    });
    expect(copy.id).not.toBe(id);
    expect(
      dataOf(await on.call('PATCH', `/email-sequences/${copy.id}`, { exit_events: [] })).exit_events,
    ).toEqual([]);
    expect((await on[plane]('POST', '/email-sequences/01J00000000000000000000000/copy')).status).toBe(404);
  });

test('one whose list is archived neither resumes nor is copied', async () => {
  const shut = await on.list();
  const id = await on.active(shut, [STEP]);
  dataOf(await on.call('POST', `/email-sequences/${id}/pause`));
  await on.call('PATCH', `/email-lists/${shut}`, { archived: true });
  for (const verb of ['resume', 'copy']) {
    const refused = await on.call('POST', `/email-sequences/${id}/${verb}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'list_archived']);
  }
  await on.call('PATCH', `/email-lists/${shut}`, { archived: false });
  expect(dataOf(await on.call('POST', `/email-sequences/${id}/resume`)).status).toBe('active');
});

test('its job, which waits for whoever is due next, has not started', async () => {
  const id = await on.active(list, [{ ...STEP, delay_hours: 9 }]);
  await on.pass();
  const { body } = await on.app.call('GET', '/api/v1/jobs?type=sequence.step&status=pending', {
    key: on.key,
  });
  const jobs = body.data as { status: string; started_at: string | null }[];
  expect(jobs.length).toBeGreaterThan(0);
  expect(jobs.filter(({ started_at }) => started_at !== null)).toEqual([]);
  dataOf(await on.call('POST', `/email-sequences/${id}/finish`));
});
