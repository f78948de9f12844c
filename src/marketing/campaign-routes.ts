/** Endpoints that sequences and broadcasts share: copy, test, and the changes of their status. */

import { isSecond, type Naming } from '../platform/cli/naming.ts';
import type { Note } from '../platform/database/audit-trail.ts';
import type { Actor } from '../platform/http/callers.ts';
import type { ProjectCaller, RequestContext, Route } from '../platform/http/routes.ts';
import { emailAddress, type TSchema, t, ulid } from '../platform/http/schema.ts';
import { madeReply } from '../platform/http/second-names.ts';
import { marketingRoute } from './marketing-route.ts';
import type { KeyOwner } from './settings/service.ts';

export interface CampaignRoutes<Seen extends { id: string; name: string }> {
  campaigns: {
    readonly what: 'sequence' | 'broadcast';
    get(project_id: number, public_id: string): Seen;
    copy(project_id: number, public_id: string, note: Note): Promise<Seen>;
  };
  names: Naming;
  tag: string;
  /** The path of one: its parameter is called after what it is. */
  one: string;
  record: TSchema;
}

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

/** What loads the one that a path names. */
export function loaderOf<Seen extends { id: string; name: string }>({ campaigns }: CampaignRoutes<Seen>) {
  return ({ ctx, caller }: Target): Seen =>
    campaigns.get(caller.project.id, ctx.params[campaigns.what] ?? '');
}

/** The answer to what made a draft: it warns where another has its name. */
export function madeDraft<Seen extends { id: string; name: string }>(
  { campaigns, names }: Pick<CampaignRoutes<Seen>, 'campaigns' | 'names'>,
  { caller }: Pick<Target, 'caller'>,
  made: Seen,
) {
  return madeReply(made, campaigns.what, isSecond(names, caller.project.id, made.name));
}

export function copyRoute<Seen extends { id: string; name: string }>(
  of: CampaignRoutes<Seen>,
  says: { summary: string; description: string },
): Route[] {
  const load = loaderOf(of);
  return marketingRoute({
    method: 'POST',
    path: `${of.one}/copy`,
    tag: of.tag,
    ...says,
    status: 201,
    also: { 409: 'Its list is archived' },
    response: of.record,
    load,
    handle: async ({ caller, resource }) =>
      madeDraft(of, { caller }, await of.campaigns.copy(caller.project.id, resource.id, caller.note)),
  });
}

/** `send` learns whether a test key asks: then the mail is captured. */
export function testRoute<Seen extends { id: string; name: string }>(
  of: CampaignRoutes<Seen>,
  says: { path: string; summary: string; description: string },
  send: (target: Target & { id: string; is_test: boolean; to: string }) => Promise<object>,
): Route[] {
  const load = loaderOf(of);
  return marketingRoute({
    method: 'POST',
    tag: of.tag,
    ...says,
    status: 202,
    body: t.Object({ to: emailAddress() }),
    example: { to: 'you@example.com' },
    response: t.Object({ email_id: ulid(), job_id: ulid() }),
    load,
    handle: ({ ctx, caller, resource, body }) =>
      send({ ctx, caller, id: resource.id, is_test: caller.key?.is_test ?? false, to: body.to }),
  });
}

/** A POST for each of what `says` has words about; it answers with the one as it is then. */
export function transitionRoutes<Seen extends { id: string; name: string }, Name extends string>(
  of: CampaignRoutes<Seen>,
  life: Record<NoInfer<Name>, (actor: Actor, owner: KeyOwner, public_id: string) => Promise<void>>,
  says: Record<Name, string>,
): Route[] {
  const load = loaderOf(of);
  const names = Object.keys(says) as Name[]; // It has no others.
  return names.flatMap((name) =>
    marketingRoute({
      method: 'POST',
      path: `${of.one}/${name}`,
      tag: of.tag,
      summary: says[name],
      also: { 409: 'Its status allows no such change' },
      response: of.record,
      load,
      handle: async ({ ctx, caller, resource }) => {
        ctx.keepOpen();
        await life[name](caller.actor, caller.project, resource.id);
        return of.campaigns.get(caller.project.id, resource.id);
      },
    }),
  );
}
