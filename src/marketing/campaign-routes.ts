/** Endpoints that sequences and broadcasts share: copy, test, and the changes of their status. */

import type { Note } from '../platform/database/audit-trail.ts';
import type { Actor } from '../platform/http/callers.ts';
import { madeReply } from '../platform/http/record-routes.ts';
import type { ProjectCaller, RequestContext, Route } from '../platform/http/routes.ts';
import { emailAddress, type Static, type TSchema, t, ulid } from '../platform/http/schema.ts';
import type { Naming } from '../platform/words/phrases.ts';
import { marketingRoute } from './marketing-route.ts';
import type { KeyOwner } from './settings/service.ts';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

/** Of a test mail: to whom it goes. */
export const test_body = t.Object({ to: emailAddress() });

type Transition = (actor: Actor, owner: KeyOwner, public_id: string) => Promise<void>;

/** `one` is the path of one, whose parameter has the name of what it is. */
export function campaignRoutes<Seen extends { id: string; name: string }>(of: {
  campaigns: {
    readonly what: 'sequence' | 'broadcast';
    get(project_id: number, public_id: string): Seen;
    copy(project_id: number, public_id: string, note: Note): Promise<Seen>;
  };
  names: Naming;
  tag: string;
  one: string;
  record: TSchema;
}) {
  const { campaigns, names, tag, one, record } = of;
  const load = ({ ctx, caller }: Target): Seen =>
    campaigns.get(caller.project.id, ctx.params[campaigns.what] ?? '');
  /** The answer to what made a draft. It warns where another has its name. */
  const madeDraft = ({ project }: ProjectCaller, made: Seen) => madeReply(made, names, project);
  return {
    load,
    madeDraft,

    copy: (says: { summary: string; description: string }): Route[] =>
      marketingRoute({
        method: 'POST',
        path: `${one}/copy`,
        tag,
        ...says,
        status: 201,
        also: { 409: 'Its list is archived' },
        response: record,
        load,
        handle: async ({ caller, resource }) =>
          madeDraft(caller, await campaigns.copy(caller.project.id, resource.id, caller.note)),
      }),

    /** `send` learns whether a test key asks: then the mail is captured. */
    test: <B extends typeof test_body>(
      { body, ...says }: { path: string; summary: string; description: string; body: B },
      send: (asked: Target & { id: string; is_test: boolean; body: Static<B> }) => Promise<object>,
    ): Route[] =>
      marketingRoute<TSchema, B, Seen>({
        method: 'POST',
        tag,
        ...says,
        status: 202,
        body,
        example: { to: 'you@example.com' } as Static<B>,
        response: t.Object({ email_id: ulid(), job_id: ulid() }),
        load,
        handle: ({ ctx, caller, resource, body }) =>
          send({ ctx, caller, id: resource.id, is_test: caller.key?.is_test ?? false, body }),
      }),

    /** A POST for each name in `says`. It answers with the one as it then is. */
    transitions: <Name extends string>(
      life: Record<NoInfer<Name>, Transition>,
      says: Record<Name, string>,
    ): Route[] => {
      const names = Object.keys(says) as Name[]; // It has no others.
      return names.flatMap((name) =>
        marketingRoute({
          method: 'POST',
          path: `${one}/${name}`,
          tag,
          summary: says[name],
          also: { 409: 'Its status allows no such change' },
          response: record,
          load,
          handle: async ({ ctx, caller, resource }) => {
            ctx.keepOpen();
            await life[name](caller.actor, caller.project, resource.id);
            return campaigns.get(caller.project.id, resource.id);
          },
        }),
      );
    },
  };
}

export type CampaignRoutes<Seen extends { id: string; name: string }> = ReturnType<
  typeof campaignRoutes<Seen>
>;
