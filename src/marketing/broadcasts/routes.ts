/** Endpoints of broadcasts: writing them, checks and tests, their life, and who got them. */

import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import type { Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Naming } from '../../platform/words/phrases.ts';
import { type CampaignRoutes, campaignRoutes } from '../campaign-routes.ts';
import { marketingRoute } from '../marketing-route.ts';
import type { BroadcastLife } from './lifecycle.ts';
import {
  changes,
  check,
  creation,
  decision,
  listed_by,
  of_variant,
  preview,
  recipient,
  record,
  sending,
  test_of_variant,
  timeline,
  UNVERSIONED,
} from './schemas.ts';
import type { BroadcastRecord, Broadcasts } from './service.ts';

const TAG = 'Broadcasts';
const ONE = '/email-broadcasts/:broadcast';

export interface BroadcastRouteDeps {
  broadcasts: Broadcasts;
  broadcast_life: BroadcastLife;
  broadcast_names: Naming;
}

type On = BroadcastRouteDeps & CampaignRoutes<BroadcastRecord>;

export function broadcastRoutes(deps: BroadcastRouteDeps): Route[] {
  const { broadcasts: campaigns, broadcast_names: names } = deps;
  const on = { ...deps, ...campaignRoutes({ campaigns, names, tag: TAG, one: ONE, record }) };
  return [
    ...draftRoutes(on),
    ...on.copy({
      summary: 'Make a draft that is as a broadcast is',
      description: "It is called 'NAME (copy)', whatever became of the other.",
    }),
    ...foresightRoutes(on),
    ...sendRoute(on),
    ...on.transitions(deps.broadcast_life, {
      pause: 'Send nothing more until it is resumed.',
      resume:
        'Go on after a pause, if it is ready; else it stays paused as `not_ready`, and `check` tells why.',
      cancel: 'End a broadcast for good: what no relay took is taken back.',
    }),
    ...decideRoute(on),
    ...resultRoutes(on),
  ];
}

function draftRoutes({ broadcasts, broadcast_life, load, madeDraft }: On): Route[] {
  return recordRoutes(marketingRoute, {
    path: ONE,
    tag: TAG,
    shown: record,
    load,
    errorsIn: ({ caller, current, body }) => broadcasts.errorsIn(caller.project.id, body, current),
    list: {
      summary: 'Broadcasts of the project, newest first',
      query: listed_by,
      response: record,
      handle: ({ caller, query }) => broadcasts.list(caller.project.id, query),
    },
    create: {
      summary: 'Create a broadcast as a draft',
      description:
        'A draft may be incomplete; `check` tells what is missing, and whom it would reach. Without a `filter` it is for everybody on the list.',
      also: { 409: 'Its list is archived' },
      body: creation,
      example: {
        name: 'June news',
        list: '01JYZ3NDEKTSV4RRFFQ69G5FAV',
        template: 'june-news',
        filter: { tags_any: ['customer'] },
      },
      handle: async ({ caller, body }) =>
        madeDraft(caller, await broadcasts.create(caller.project.id, body, caller.note)),
    },
    read: { summary: 'One broadcast with its numbers', unversioned: UNVERSIONED },
    change: {
      summary: 'Change a broadcast that is a draft or scheduled',
      description:
        '`send_at` may be changed once it is scheduled; null makes it a draft again. `in_archive` alone is taken in any status.',
      also: { 409: 'It is neither a draft nor scheduled, or its new list is archived' },
      body: changes,
      example: { name: 'June news, at last' },
      handle: async ({ caller, resource, body }) => {
        await broadcast_life.change(caller.project.id, resource.id, body, caller.note);
        return broadcasts.get(caller.project.id, resource.id);
      },
    },
    remove: {
      summary: 'Delete a broadcast that is a draft or was cancelled',
      description: 'The log keeps the mails that it sent.',
      also: { 409: 'It is neither a draft nor cancelled' },
      response: t.Object({ deleted: t.Boolean() }),
      handle: async ({ caller, resource }) => {
        await broadcasts.remove(caller.project.id, resource.id, caller.note);
        return { deleted: true };
      },
    },
  });
}

function foresightRoutes({ broadcasts, load, test }: On): Route[] {
  return [
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/check`,
      may_take_long: true,
      tag: TAG,
      summary: 'What keeps a broadcast from being sent, and whom it would reach',
      response: check,
      load,
      handle({ ctx, caller, resource }) {
        ctx.keepOpen(); // A list of millions takes a while to count.
        return broadcasts.check(caller.project.id, resource.id);
      },
    }),
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/preview`,
      may_take_long: true,
      tag: TAG,
      summary: "A broadcast's mail as its reader sees it, with sample values",
      description: 'In its layout, as template and settings are now; links stand as they were written.',
      query: of_variant,
      response: preview,
      load,
      handle: ({ caller, resource, query: { variant = null } }) =>
        broadcasts.preview(caller.project.id, { public_id: resource.id, variant }),
    }),
    ...test(
      {
        path: `${ONE}/test`,
        summary: 'Send a copy of a broadcast to an address',
        description:
          'Marked as a test in its subject, with sample values. It goes out at once, from a mailbox that marketing may use, and ' +
          'counts nowhere. For a test key it is captured.',
        body: test_of_variant,
      },
      ({ caller, id, is_test, body: { to, variant = null } }) =>
        broadcasts.sendTest(caller.project.id, { public_id: id, is_test, variant }, to),
    ),
  ];
}

function sendRoute({ broadcasts, broadcast_life, load }: On): Route[] {
  return marketingRoute({
    method: 'POST',
    path: `${ONE}/send`,
    tag: TAG,
    summary: 'Send a broadcast, now or at a time',
    description:
      'To everybody who is on the list when sending begins and fits, each once. 422 `send_refused` lists every problem. What is ' +
      'scheduled is checked again at its time. What a test key sends is captured, and counts nowhere.',
    status: 202,
    also: { 409: 'It is neither a draft nor scheduled, or was changed meanwhile' },
    body: sending,
    example: { send_at: '2031-06-01T09:00:00Z' },
    response: record,
    load,
    handle: async ({ ctx, caller, resource, body }) => {
      ctx.keepOpen();
      const is_test = caller.key?.is_test ?? false;
      await broadcast_life.send(caller.actor, caller.project, resource.id, { ...body, is_test });
      return broadcasts.get(caller.project.id, resource.id);
    },
  });
}

function decideRoute({ broadcasts, broadcast_life, load }: On): Route[] {
  return marketingRoute({
    method: 'POST',
    path: `${ONE}/decide`,
    tag: TAG,
    summary: 'Decide the A/B of a broadcast: the rest gets this variant',
    description: 'While it is `testing`, whoever was to decide it.',
    also: { 409: 'It is not testing' },
    body: decision,
    example: { variant: 'B' },
    response: record,
    load,
    handle: async ({ caller, resource, body }) => {
      await broadcast_life.decide(caller.actor, caller.project, resource.id, body.variant);
      return broadcasts.get(caller.project.id, resource.id);
    },
  });
}

function resultRoutes({ broadcasts, load }: On): Route[] {
  return [
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/recipients`,
      tag: TAG,
      summary: 'Who had their turn, and what became of it',
      query: t.Object(pageQuery),
      response: recipient,
      load,
      handle: ({ caller, resource, query }) =>
        broadcasts.listRecipients(caller.project.id, resource.id, query),
    }),
    ...marketingRoute({
      method: 'GET',
      path: `${ONE}/timeline`,
      tag: TAG,
      summary: 'When it was sent, opened and clicked',
      response: timeline,
      load,
      handle: ({ caller, resource }) => broadcasts.timeline(caller.project.id, resource.id),
    }),
  ];
}
