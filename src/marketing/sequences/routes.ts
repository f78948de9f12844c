/** Endpoints of sequences: drafts, checks, foresight, their life, and enrollments. */
import { invalid } from '../../errors.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import { type Static, t, ulid } from '../../platform/http/schema.ts';
import type { Naming } from '../../platform/words/phrases.ts';
import { type CampaignRoutes, campaignRoutes, test_body } from '../campaign-routes.ts';
import { type ContactFilter, NOT_BOTH } from '../contacts/service.ts';
import type { Lists } from '../lists/service.ts';
import { marketingRoute } from '../marketing-route.ts';
import type { Segments } from '../segments/service.ts';
import type { Selection, SequenceLife } from './lifecycle.ts';
import {
  by_state,
  changes,
  check,
  creation,
  enroll,
  enrollment,
  listed_by,
  preview,
  record,
  timeline,
} from './schemas.ts';
import type { SequenceRecord, Sequences } from './service.ts';

const TAG = 'Sequences';
const ONE = '/email-sequences/:sequence';

export interface SequenceRouteDeps {
  sequences: Sequences;
  sequence_life: SequenceLife;
  lists: Lists;
  segments: Segments;
  sequence_names: Naming;
}

type On = SequenceRouteDeps & CampaignRoutes<SequenceRecord>;

export function sequenceRoutes(deps: SequenceRouteDeps): Route[] {
  const { sequences: campaigns, sequence_names: names } = deps;
  const on = { ...deps, ...campaignRoutes({ campaigns, names, tag: TAG, one: ONE, record }) };
  return [
    ...draftRoutes(on),
    ...on.copy({
      summary: 'Make a draft that is as a sequence is',
      description:
        "It is called 'NAME (copy)', and nobody is in it: for what a running or finished sequence may not change.",
    }),
    ...foresightRoutes(on),
    ...on.test(
      {
        path: `${ONE}/steps/:key/test`,
        summary: 'Send a copy of a step to an address',
        description:
          'Marked as a test in its subject, with sample values. It goes out at once, from a mailbox that marketing may use; no ' +
          'enrollment moves, and nothing of it counts. For a test key it is captured.',
        body: test_body,
      },
      ({ ctx, caller, id, is_test, body: { to } }) =>
        deps.sequences.sendTest(caller.project.id, { public_id: id, key: ctx.params.key ?? '', is_test }, to),
    ),
    ...on.transitions(deps.sequence_life, {
      activate: 'Have a draft run; it enrolls nobody. 422 `activation_refused` lists every problem.',
      pause: 'Send nothing until it is resumed; delays run on.',
      resume: 'Go on: what fell due meanwhile is sent now.',
      finish: 'End a sequence for good: its enrollments exit.',
    }),
    ...enrollmentRoutes(on),
  ];
}

function draftRoutes({ sequences, load, madeDraft }: On): Route[] {
  return recordRoutes(marketingRoute, {
    path: ONE,
    tag: TAG,
    shown: record,
    load,
    list: {
      summary: 'Sequences of the project, newest first',
      query: listed_by,
      response: record,
      handle: ({ caller, query }) => sequences.list(caller.project.id, query),
    },
    create: {
      summary: 'Create a sequence as a draft',
      description: 'A draft may be incomplete; `check` tells what is missing.',
      body: creation,
      example: {
        name: 'Welcome',
        list: '01JYZ3NDEKTSV4RRFFQ69G5FAV',
        max_recipients: 1_000,
        steps: [{ key: 'hello', template: 'welcome', delay_hours: 0, is_final: true }],
      },
      handle: async ({ caller, body }) =>
        madeDraft(caller, await sequences.create(caller.project.id, body, caller.note)),
    },
    read: { summary: 'One sequence with its steps and numbers', unversioned: ['stats', 'pause_words'] },
    change: {
      summary: 'Change a sequence',
      description:
        'Steps are replaced whole. Once the sequence runs, `steps` must be complete, and only `template`, `preheader`, `delay_hours` and ' +
        '`variables` of a step may differ; a changed delay re-times who waits for it. Another `list`, other `exit_events` or ' +
        '`enroll_tags`, or another `auto_enroll_new_contacts` is 409 then: change them in a copy.',
      also: { 409: 'It is finished, or runs and may change this only in a copy' },
      body: changes,
      example: { max_recipients: 5_000 },
      handle: ({ caller, resource, body }) =>
        sequences.update(caller.project.id, resource.id, body, caller.note),
    },
  });
}

function foresightRoutes({ sequences, load }: On): Route[] {
  return [
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/check`,
      may_take_long: true,
      tag: TAG,
      summary: 'What keeps a sequence from being activated',
      response: check,
      load,
      handle: ({ caller, resource }) => sequences.check(caller.project.id, resource.id),
    }),
    projectRoute({
      method: 'GET',
      path: `${ONE}/why`,
      may_take_long: true,
      tag: TAG,
      summary: 'Why a sequence sends or does not, and what it waits for',
      description: 'As `satchel sequence why` tells it.',
      response: t.Object({ id: ulid(), why: t.Array(t.String(), { description: 'A sentence each.' }) }),
      load,
      handle: async ({ caller, resource: { id } }) => ({
        id,
        why: await sequences.explain(caller.project.id, id),
      }),
    }),
    ...marketingRoute({
      method: 'POST',
      path: `${ONE}/preview`,
      may_take_long: true,
      only_reads: true,
      tag: TAG,
      summary: 'What a contact would see, and when',
      description:
        'The walk through the sequence with the answers given: each step at the earliest time that its delay, the send ' +
        'window and what is left of the daily cap today allow, as if relays took each mail at once. It ends as `failed` where a merge field has no value. Nothing is stored or sent.',
      body: preview,
      example: { clicks: [] },
      response: timeline,
      load,
      handle: ({ caller, resource, body }) => sequences.preview(caller.project.id, resource.id, body),
    }),
  ];
}

function enrollmentRoutes({ sequences, sequence_life, lists, segments, load }: On): Route[] {
  return [
    ...marketingRoute({
      method: 'POST',
      path: `${ONE}/enroll`,
      tag: TAG,
      summary: 'Enroll contacts of the list',
      description:
        'One of `all`, `tags` (contacts with at least one of them), `contact_ids`, `filter` and `segment`. Whoever was ever enrolled counts as ' +
        '`already`. 409 while the sequence is a draft or finished. What a test key enrolls is a test: all its mail is ' +
        'captured, and it counts nowhere.',
      also: { 409: 'The sequence is a draft or finished' },
      body: enroll,
      example: { all: true },
      response: t.Object({
        enrolled: t.Integer(),
        already: t.Integer(),
        refused_suppressed: t.Integer(),
        refused_status: t.Integer(),
      }),
      load,
      handle: ({ caller, resource, body }) => {
        const list = lists.require(caller.project.id, resource.list);
        const selection = selectionOf(body, (segment) => segments.filterNamed(list, segment));
        const is_test = caller.key?.is_test ?? false;
        return sequence_life.enroll(caller.project, resource.id, selection, { is_test, note: caller.note });
      },
    }),
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/enrollments`,
      tag: TAG,
      summary: 'Enrollments, newest first',
      query: by_state,
      response: enrollment,
      load,
      handle: ({ caller, resource, query }) =>
        sequences.listEnrollments(caller.project.id, resource.id, query),
    }),
  ];
}

function selectionOf(
  body: Static<typeof enroll>,
  filterNamed: (segment: string) => ContactFilter,
): Selection {
  const forms = [body.all === true, body.tags, body.contact_ids, body.filter, body.segment];
  if (body.filter && body.segment) throw invalid({ segment: [NOT_BOTH] });
  if (forms.filter(Boolean).length !== 1)
    throw invalid({ _: ['exactly one of all (true), tags, contact_ids, filter and segment must be given'] });
  if (body.segment) return { filter: filterNamed(body.segment) };
  if (body.filter) return { filter: body.filter };
  if (body.contact_ids) return { contact_ids: body.contact_ids };
  return body.tags ? { tags: body.tags } : { all: true };
}
