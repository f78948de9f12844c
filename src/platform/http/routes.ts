/**
 * Routes: an endpoint is a value with its method, path, needs, schemas and handler. `app.ts` lists them all, server.ts
 * serves them, pipeline.ts turns what they return into responses, and the documentation is read off them.
 */
import { AppError } from '../../errors.ts';
import { MANAGEMENT_RATE_PER_MINUTE, MAX_FORM_BODY_BYTES } from '../../limits.ts';
import { type Note, noNote, recordAudit } from '../database/audit-trail.ts';
import {
  type Accepted,
  acceptKey,
  type HttpDeps,
  noteCaller,
  type ProjectRef,
  type RequestContext,
  readRecord,
  runHandler,
  type SpecBase,
  type Trace,
} from './admission.ts';
import type { Family } from './answers.ts';
import { readForm } from './body.ts';
import { isConsoleRequest, readSessionCookie, requireConsoleRequest, requirePrivateLine } from './browser.ts';
import {
  type Actor,
  ADMINISTER,
  actorOf,
  type Capability,
  type KeyCaller,
  keyActor,
  type ManagementCaller,
  type Permission,
  requireCapabilities,
  type SessionCaller,
} from './callers.ts';
import { requireHolding } from './capabilities.ts';
import { parse, type Static, type TSchema } from './schema.ts';

export type { HttpDeps, RequestContext, Trace } from './admission.ts';

export type Plane = 'data' | 'management' | 'console' | 'status' | 'page';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where each plane lives below the public URL. */
export const PLANE_PREFIX: Record<Plane, string> = {
  data: '/api/v1',
  management: '/api/public/v1',
  console: '/console',
  status: '/api',
  page: '',
};

/** An answer with another status than the route's own, with headers, or with fields beside `data`. */
export class Reply {
  readonly status: number;
  readonly value: unknown;
  readonly headers: Record<string, string>;
  readonly beside: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    value: unknown,
    headers: Record<string, string> = {},
    beside: Readonly<Record<string, unknown>> = {},
  ) {
    this.status = status;
    this.value = value;
    this.headers = headers;
    this.beside = beside;
  }
}

/** What the OpenAPI pages and the route-walk tests know of a route. */
export interface RouteDocs {
  summary: string;
  tag: string;
  /** Longer explanation, in Markdown. */
  description?: string;
  query?: TSchema;
  body?: TSchema;
  /** Shape of the success answer inside the envelope. */
  response?: TSchema;
  /** What stands beside `data` in the envelope. */
  beside?: Readonly<Record<string, TSchema>>;
  /** Media type of the request body where it is not JSON. */
  consumes?: string;
  /** A body that works as it stands. */
  example?: unknown;
  /** Headers of the success besides those of every answer, with what they mean. */
  headers?: Readonly<Record<string, string>>;
  /** Statuses besides its own and those that any route of its plane may answer, with what they mean. */
  also?: Readonly<Record<number, string>>;
  /** Whether it honours the header Idempotency-Key. */
  is_idempotent?: boolean;
  /** Whether it honours the header If-Match; see etags.ts. */
  takes_if_match?: boolean;
  /** Fields that change by themselves, such as counters: they are no part of the record's ETag, at whatever depth. */
  unversioned?: readonly string[];
}

export interface Route {
  readonly plane: Plane;
  readonly family: Family;
  readonly method: Method;
  /** Path below the plane's prefix, with `:name` parameters. */
  readonly path: string;
  readonly status: number;
  /** What the caller must hold; null where the route is open. */
  readonly needs: readonly string[] | null;
  readonly docs: RouteDocs;
  run(context: RequestContext, deps: HttpDeps, trace: Trace): Promise<unknown>;
  /** Answers an accepted caller of the management plane at once with the record as it is now, for its ETag. */
  read?(context: RequestContext, deps: HttpDeps, manager: ManagementCaller): unknown;
}

interface DataRouteSpec<Q extends TSchema, B extends TSchema, R> extends SpecBase<KeyCaller, Q, B, R> {
  needs: readonly Permission[];
}

interface ManagementRouteSpec<Q extends TSchema, B extends TSchema, R>
  extends SpecBase<ManagementCaller, Q, B, R> {
  needs?: readonly Capability[];
}

/** What a declaration says for the documentation; that a form is the body follows from the kind of route. */
function docsOf(spec: RouteDocs & { form?: TSchema }): RouteDocs {
  return spec.form ? { consumes: 'multipart/form-data', ...spec, body: spec.form } : spec;
}

/** A route of the data plane: needs an API key with these permissions. */
export function dataRoute<Q extends TSchema, B extends TSchema, R>(spec: DataRouteSpec<Q, B, R>): Route {
  return {
    plane: 'data',
    family: spec.family ?? 'core',
    method: spec.method,
    path: spec.path,
    status: spec.status ?? 200,
    needs: spec.needs,
    docs: docsOf(spec),
    async run(ctx, deps, trace) {
      return runHandler(spec, { ctx, deps, trace, ...acceptKey(ctx, deps, trace, spec.needs) });
    },
  };
}

/** A route of the management plane: needs an access token, or a person, with these capabilities. */
export function managementRoute<Q extends TSchema, B extends TSchema, R>(
  spec: ManagementRouteSpec<Q, B, R>,
): Route {
  const needs = spec.needs ?? [];
  return {
    plane: 'management',
    family: spec.family ?? 'management',
    method: spec.method,
    path: spec.path,
    status: spec.status ?? 200,
    needs,
    docs: docsOf(spec),
    async run(ctx, deps, trace) {
      const accepted = acceptManager({ ctx, deps, trace }, needs);
      if (spec.method !== 'GET' && needs.includes(ADMINISTER)) holdToPowers(accepted);
      return runHandler(spec, accepted);
    },
    read: (ctx, _deps, caller) => readRecord(spec, { ctx, caller }),
  };
}

/** 401, then 403 for a capability that is missing. The caller's rate is taken after them. */
function acceptManager(
  request: Pick<Accepted<ManagementCaller>, 'ctx' | 'deps' | 'trace'>,
  needs: readonly Capability[],
): Accepted<ManagementCaller> {
  const caller = findManager(request);
  const takeRate = noteManager(request, caller);
  const accept = (manager: ManagementCaller): ManagementCaller => {
    request.trace.manager = manager;
    requireCapabilities(manager, needs);
    return manager;
  };
  return {
    ...request,
    caller: accept(caller),
    takeRate,
    acceptAgain: () => accept(findManager(request)),
  };
}

/** For changes that concern everybody: in the transaction that makes one, the caller must still have all the powers that they had
 * when the request came. */
function holdToPowers({ trace, acceptAgain }: Accepted<ManagementCaller>): void {
  const { guard } = trace;
  trace.guard = () => {
    const held = trace.manager;
    const now = acceptAgain();
    if (held) requireHolding(now, held);
    guard?.();
  };
}

function findManager(request: Pick<Accepted<ManagementCaller>, 'ctx' | 'deps'>): ManagementCaller {
  const { ctx, deps } = request;
  const authorization = ctx.request.headers.get('authorization');
  const is_bearer = /^\s*bearer\b/i.test(authorization ?? '');
  const counts = !is_bearer && isConsoleRequest(ctx, deps.config);
  return (counts ? sessionOf(request)?.person : undefined) ?? deps.authenticateToken(authorization, ctx.ip);
}

function noteManager(
  request: Pick<Accepted<unknown>, 'deps' | 'trace'>,
  caller: ManagementCaller,
): () => void {
  return noteCaller(request, `${caller.kind}:${caller.id}`, {
    limit: MANAGEMENT_RATE_PER_MINUTE,
    per: 'minute',
    what: caller.kind === 'token' ? 'Requests of this access token' : 'Your requests',
  });
}

function sessionOf({ ctx, deps }: Pick<Accepted<unknown>, 'ctx' | 'deps'>): SessionCaller | null {
  const secret = readSessionCookie(ctx.request, deps.config);
  return secret === null ? null : deps.authenticateSession(secret);
}

function requireSession(request: Pick<Accepted<unknown>, 'ctx' | 'deps'>): SessionCaller {
  const caller = sessionOf(request);
  if (!caller) throw new AppError('unauthenticated', 'You are not signed in, or no longer.');
  return caller;
}

/**
 * An endpoint of the console itself, for a person who is signed in. Whatever changes something must come from our own pages.
 */
export function consoleRoute<Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<SessionCaller, Q, B, R>,
): Route {
  return {
    ...consoleBase(spec),
    needs: [],
    async run(ctx, deps, trace) {
      const request = { ctx, deps, trace };
      const caller = requireSession(request);
      const takeRate = noteManager(request, caller.person);
      if (spec.method !== 'GET') requireConsoleRequest(ctx, deps.config, spec.body !== undefined);
      return runHandler(spec, { ...request, caller, takeRate, acceptAgain: () => requireSession(request) });
    },
  };
}

/** An endpoint of the console for whoever is not signed in yet. It answers over TLS or on this machine only. */
export function signInRoute<Q extends TSchema, B extends TSchema, R>(spec: SpecBase<null, Q, B, R>): Route {
  return {
    ...consoleBase(spec),
    needs: null,
    async run(ctx, deps, trace) {
      requireConsoleRequest(ctx, deps.config, spec.body !== undefined);
      requirePrivateLine(ctx, deps.config);
      return runHandler(spec, {
        ctx,
        deps,
        trace,
        caller: null,
        takeRate: () => {},
        acceptAgain: () => null,
      });
    },
  };
}

function consoleBase(spec: RouteDocs & { method: Method; path: string; status?: number }) {
  const { method, path, status = 200 } = spec;
  return { plane: 'console', family: 'core', method, path, status, docs: docsOf(spec) } as const;
}

/** Whoever acts for a project: a key of it, or a caller of the management plane who may see it. */
export interface ProjectCaller {
  readonly project: ProjectRef;
  readonly key: KeyCaller | null;
  readonly manager: ManagementCaller | null;
  /** Names it among all callers: `key:12`, `token:3`. */
  readonly identity: string;
  /** Who is held responsible for what the request does. */
  readonly actor: Actor;
  /** Puts a change on the audit trail. Changes by keys are left out: they would be every request of every app. */
  readonly note: Note;
}

interface ProjectRouteSpec<Q extends TSchema, B extends TSchema, R> extends SpecBase<ProjectCaller, Q, B, R> {
  /** Capabilities that a caller of the management plane needs. */
  needs_of_manager?: readonly Capability[];
}

export interface BothPlanesSpec<Q extends TSchema, B extends TSchema, R> extends ProjectRouteSpec<Q, B, R> {
  /** Permissions that a key needs. */
  needs: readonly Permission[];
  /** Where the mirror differs: its path below the project, the shape of its answer, what stands beside `data`. */
  mirror?: Pick<RouteDocs, 'beside'> & { path?: string; response?: TSchema };
}

/** A route of the management plane below /projects/{project}: for who may see the project. */
export function projectRoute<Q extends TSchema, B extends TSchema, R>(
  spec: ProjectRouteSpec<Q, B, R>,
): Route {
  const needs = spec.needs_of_manager ?? [];
  return {
    plane: 'management',
    family: 'management',
    method: spec.method,
    path: `/projects/:project${spec.path}`,
    status: spec.status ?? 200,
    needs,
    docs: docsOf(spec),
    run(ctx, deps, trace) {
      const { caller: manager, takeRate, acceptAgain } = acceptManager({ ctx, deps, trace }, needs);
      takeRate();
      const caller = managerOf(manager, ctx, deps);
      return runHandler(spec, {
        ctx,
        deps,
        trace,
        caller,
        takeRate: () => {},
        acceptAgain: () => managerOf(acceptAgain(), ctx, deps),
      });
    },
    read: (ctx, deps, manager) => readRecord(spec, { ctx, caller: managerOf(manager, ctx, deps) }),
  };
}

/** Throws the 404 of a project that the caller may not see. */
function managerOf(manager: ManagementCaller, ctx: RequestContext, deps: HttpDeps): ProjectCaller {
  const project = deps.findProject(manager, ctx.params.project ?? '');
  const actor = actorOf(manager, ctx.ip);
  return {
    project,
    key: null,
    manager,
    identity: `${manager.kind}:${manager.id}`,
    actor,
    note: (tx, entry) => recordAudit(tx, actor, { ...entry, project }, deps.clock.now()),
  };
}

/**
 * One declaration, two routes: on the data plane with an API key, and its mirror below /projects/{project} of the management
 * plane. Handler and service are the same; only the envelope differs.
 */
export function bothPlanes<Q extends TSchema, B extends TSchema, R>(
  spec: BothPlanesSpec<Q, B, R>,
): [Route, Route] {
  return [
    {
      plane: 'data',
      family: spec.family ?? 'core',
      method: spec.method,
      path: spec.path,
      status: spec.status ?? 200,
      needs: spec.needs,
      docs: docsOf(spec),
      run(ctx, deps, trace) {
        const { caller: key, takeRate, acceptAgain } = acceptKey(ctx, deps, trace, spec.needs);
        return runHandler(spec, {
          ctx,
          deps,
          trace,
          caller: projectCallerOf(key, ctx),
          takeRate,
          acceptAgain: () => projectCallerOf(acceptAgain(), ctx),
        });
      },
    },
    projectRoute({ ...spec, ...spec.mirror }),
  ];
}

function projectCallerOf(key: KeyCaller, ctx: RequestContext): ProjectCaller {
  return {
    project: { id: key.project_id, public_id: key.project_public_id },
    key,
    manager: null,
    identity: `key:${key.key_id}`,
    actor: keyActor(key, ctx.ip),
    note: noNote,
  };
}

/** The path of the project's resources on the caller's plane. */
export function projectUrl(public_url: string, caller: ProjectCaller): string {
  return caller.key
    ? `${public_url}${PLANE_PREFIX.data}`
    : `${public_url}${PLANE_PREFIX.management}/projects/${caller.project.public_id}`;
}

interface OpenRouteSpec<F extends TSchema>
  extends Pick<RouteDocs, 'summary' | 'tag' | 'description' | 'response' | 'also' | 'headers'> {
  plane: Plane;
  family?: Family;
  method: Method;
  path: string;
  /** Shape of the form that a page posts; its fields are text, read as numbers and booleans where the shape asks for those. */
  form?: F;
  /** `acceptKey` authenticates, where the handler finds that the request needs a key. */
  handle(input: {
    ctx: RequestContext;
    form: Static<F>;
    acceptKey(needs: readonly Permission[]): KeyCaller;
  }): unknown;
}

const FAMILY_OF_OPEN = {
  data: 'core',
  management: 'management',
  console: 'core',
  status: 'status',
  page: 'page',
} as const;

/**
 * A route that answers without a credential. GET changes nothing: mail scanners follow links. Every one of them stands in
 * the literal list of the route-walk test.
 */
export function openRoute<F extends TSchema>(spec: OpenRouteSpec<F>): Route {
  return {
    plane: spec.plane,
    family: spec.family ?? FAMILY_OF_OPEN[spec.plane],
    method: spec.method,
    path: spec.path,
    status: 200,
    needs: null,
    docs: docsOf({ ...spec, consumes: 'application/x-www-form-urlencoded' }),
    async run(ctx, deps, trace) {
      const acceptAndCount = (needs: readonly Permission[]): KeyCaller => {
        const { caller, takeRate } = acceptKey(ctx, deps, trace, needs);
        takeRate();
        return caller;
      };
      const form = spec.form
        ? parse(spec.form, await readForm(ctx.request, MAX_FORM_BODY_BYTES), { coerce: true })
        : undefined;
      // An absent schema has the type of an absent form; TypeScript cannot tie the two together.
      return spec.handle({ ctx, form: form as Static<F>, acceptKey: acceptAndCount });
    },
  };
}
