/**
 * Routes: an endpoint is a value with its method, path, needs, schemas and handler. `app.ts` lists them all,
 * server.ts serves them, pipeline.ts makes responses of what they return, and the documentation is read off
 * them.
 */
import type { Config } from '../../config.ts';
import type { FieldErrors } from '../../errors.ts';
import { MAX_FORM_BODY_BYTES } from '../../limits.ts';
import type { Note } from '../database/audit-trail.ts';
import type { Clock } from '../host/clock.ts';
import type { Logger } from '../host/logger.ts';
import type { Language } from '../words/words.ts';
import {
  acceptKey,
  acceptManager,
  acceptProjectKey,
  acceptProjectManager,
  acceptSession,
  acceptVerb,
  nobody,
  projectManagerOf,
  readRecord,
  runHandler,
} from './admission.ts';
import type { Family } from './answers.ts';
import { readForm } from './body.ts';
import { isAskedLocally, requireConsoleRequest, requirePrivateLine } from './browser.ts';
import type {
  Actor,
  Capability,
  KeyCaller,
  KeyCredentials,
  ManagementCaller,
  Permission,
  SessionCaller,
} from './callers.ts';
import type { Dialect } from './foreign.ts';
import type { RouteDocs } from './openapi.ts';
import type { RateLimiter, RateState } from './rate-limit.ts';
import type { RequestMeasures } from './request-measures.ts';
import { parse, type Static, type TSchema, t } from './schema.ts';

/** `foreign`: paths that speak for another product's API; see foreign.ts. */
export type Plane = 'data' | 'management' | 'console' | 'status' | 'machine' | 'page' | 'foreign';
export type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where each plane lives below the public URL. */
export const PLANE_PREFIX: Record<Plane, string> = {
  data: '/api/v1',
  management: '/api/public/v1',
  console: '/console',
  status: '/api',
  machine: '',
  page: '',
  foreign: '',
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

/** What the pipeline needs of the nouns; app/ hands it in. */
export interface HttpDeps {
  config: Config;
  clock: Clock;
  logger: Logger;
  limiter: Pick<RateLimiter, 'take' | 'peek' | 'atOnce'>;
  /** Throws 401 or 403; see access/keys. */
  authenticateKey(credentials: KeyCredentials): KeyCaller;
  /** Throws one of the five 401s; see access/tokens. */
  authenticateToken(authorization: string | null, ip: string | null): ManagementCaller;
  /** The person whose session a cookie's secret is of, or null; see access/people. */
  authenticateSession(secret: string): SessionCaller | null;
  /** The project that a path of the management plane names; throws 404. See access/projects. */
  findProject(caller: ManagementCaller, ref: string): ProjectRef;
  /** Runs `work`, with `check` in the transaction of its first change; see Database. */
  guarded<T>(check: () => void, work: () => Promise<T>): Promise<T>;
  clientIp(peer: string | null, forwarded_for: string | null): string | null;
  requests: Pick<RequestMeasures, 'begin' | 'note'>;
  /** The project whose link domain a host is, by its name without a port; see access/projects. */
  projectAtHost(name: string): number | null;
  /** See Database. */
  settled(): Promise<void> | null;
  /** Throws where this server changes nothing any more. */
  refuseChanges(): void;
}

export interface ProjectRef {
  readonly id: number;
  readonly public_id: string;
}

/** What a handler knows of its request besides its own inputs. */
export interface RequestContext {
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly request_id: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  /** The project whose link domain the request came to; null at any other host. */
  readonly link_project_id: number | null;
  /** Lifts the server's idle time-out, for a body or an answer that may take long. */
  keepOpen(): void;
  /** Restores the idle time-out: a refused client must not keep its connection by silence. */
  closeWhenIdle(): void;
}

/** What is noted while a request is handled, for headers and the log. */
export interface Trace {
  rate: RateState | null;
  caller: string | null;
  /** Names of fields and query parameters that were sent and mean nothing to the route. */
  ignored: readonly string[];
  /** Who was accepted on the management plane. */
  manager?: ManagementCaller;
  /** Whether a change concerns everybody: whoever makes it must still hold all that they held when the request came. */
  is_for_everybody?: boolean;
  /** Checked again with a change: throws where the record has changed since the client read it (etags.ts). */
  guard?: () => void;
}

/** A request on its way to an answer. */
export interface Exchange {
  readonly ctx: RequestContext;
  readonly deps: HttpDeps;
  readonly trace: Trace;
  /** Whether the route answers a file, which a browser may save as it comes. */
  readonly is_file: boolean;
  /** Whether it changes nothing: a GET, or what says so of itself. */
  readonly only_reads: boolean;
}

export interface Inputs<C, Q extends TSchema, B extends TSchema, R> {
  ctx: RequestContext;
  caller: C;
  query: Static<Q>;
  body: Static<B>;
  /** The JSON bytes as sent. */
  raw: Uint8Array;
  resource: R;
  /** Authenticates again, after a wait for the client. Throws where the caller has lost access meanwhile. */
  acceptAgain(): C;
}

/** What the routes that need a credential have in common; `C` is who calls. */
export interface SpecBase<C, Q extends TSchema, B extends TSchema, R>
  extends Pick<
    RouteDocs,
    | 'summary'
    | 'tag'
    | 'description'
    | 'also'
    | 'headers'
    | 'always'
    | 'request_headers'
    | 'consumes'
    | 'is_idempotent'
    | 'only_reads'
    | 'beside'
    | 'unversioned'
    | 'may_be_capped'
    | 'produces'
    | 'is_bodiless'
  > {
  method: Method;
  path: string;
  /** Status of a success; 200 unless given. */
  status?: number;
  family?: Family;
  query?: Q;
  body?: B;
  /** A body that works as it stands, for the documentation. */
  example?: Static<B>;
  response?: TSchema;
  /** Whether its caller can make it long: two of theirs are in work at once. */
  may_take_long?: boolean;
  /** What a JSON body may have at most, where that is less than elsewhere: more is 413. */
  max_body_bytes?: number;
  /** Shape of a multipart form that the handler reads by itself; for the documentation. */
  form?: TSchema;
  /** Throws a 403 that depends on the caller, before anything of the body is read. */
  authorize?(input: { ctx: RequestContext; caller: C }): void;
  /**
   * Throws the 403 that depends on the body, before 404 and 422. `sent` is the body as it came, empty where
   * it is no JSON object.
   */
  authorizeBody?(input: { caller: C; sent: Readonly<Record<string, unknown>> }): void;
  /** Counts a stranger's request after the resource is found and before the body is read. Throws the 429. */
  count?(input: { ctx: RequestContext; caller: C }): Promise<void>;
  /**
   * Finds the path's resource, or throws 404, before validation. Called again in the transaction of the first
   * change, since the resource may be deleted meanwhile; so it must change nothing.
   */
  load?(input: { ctx: RequestContext; caller: C }): R;
  /**
   * What is wrong with a body beyond its schema. Called for refused bodies, too, so that the client is told
   * everything at once: `body` has the fields that fit the schema.
   */
  errorsIn?(input: { caller: C; body: Partial<Static<B>>; resource: R }): FieldErrors;
  /** Fields that may stand for one another. Where one breaks the schema, missing ones are not asked for. */
  together?: readonly (keyof Static<B>)[];
  handle(input: Inputs<C, Q, B, R>): unknown;
  /** The record for its ETag, where `handle` adds what takes a while to find; that is in `unversioned`. */
  record?(input: Inputs<C, Q, B, R>): unknown;
}

export interface Route {
  readonly plane: Plane;
  readonly family: Family;
  /** Whose API it speaks for. */
  readonly dialect?: Dialect;
  readonly method: Method;
  /** Path below the plane's prefix, with `:name` parameters. */
  readonly path: string;
  readonly status: number;
  /** What the caller must hold; null where the route is open. */
  readonly needs: readonly string[] | null;
  readonly docs: RouteDocs;
  /** As of an open route. */
  readonly projectOf?: ((ctx: RequestContext) => number | null | Promise<number | null>) | undefined;
  readonly languageOf?: ((ctx: RequestContext) => Language | null) | undefined;
  run(exchange: Exchange): Promise<unknown>;
  /** Answers a manager with the record as it is now, for its ETag. */
  read?(exchange: Exchange, manager: ManagementCaller): unknown;
}

interface DataRouteSpec<Q extends TSchema, B extends TSchema, R> extends SpecBase<KeyCaller, Q, B, R> {
  needs: readonly Permission[];
}

interface ManagementRouteSpec<Q extends TSchema, B extends TSchema, R>
  extends SpecBase<ManagementCaller, Q, B, R> {
  needs?: readonly Capability[];
  /** Whether this Authorization is of a verb beside the server, which has a key for this endpoint alone. */
  takesVerb?(authorization: string | null): boolean;
}

/** The envelope of each plane, where a route names no other. */
const FAMILY_OF = {
  data: 'core',
  management: 'management',
  console: 'core',
  status: 'status',
  machine: 'management',
  page: 'page',
  foreign: 'status',
} as const;

/** What a route is besides what runs it. */
function declared(
  plane: Plane,
  spec: RouteDocs & DocumentedSpec & { method: Method; path: string; status?: number; family?: Family },
): Omit<Route, 'needs' | 'run'> {
  const { method, path, status = 200 } = spec;
  const family = spec.family ?? FAMILY_OF[plane];
  return { plane, family, method, path, status, docs: docsOf(spec) };
}

interface DocumentedSpec {
  form?: TSchema;
  max_body_bytes?: number;
}

/** What a declaration says for the documentation; that a form is the body follows from the kind of route. */
function docsOf({ max_body_bytes, ...spec }: RouteDocs & DocumentedSpec): RouteDocs {
  if (spec.form) return { consumes: 'multipart/form-data', ...spec, body: spec.form };
  if (max_body_bytes === undefined) return spec;
  return { ...spec, also: { ...spec.also, 413: `The body is larger than ${max_body_bytes} bytes` } };
}

/** A route of the data plane: needs an API key with these permissions. */
export function dataRoute<Q extends TSchema, B extends TSchema, R>(spec: DataRouteSpec<Q, B, R>): Route {
  const { needs } = spec;
  return {
    ...declared('data', spec),
    needs,
    run: async (exchange) => runHandler(spec, acceptKey(exchange, needs)),
  };
}

/** A route of the management plane: needs an access token, or a person, with these capabilities. */
export function managementRoute<Q extends TSchema, B extends TSchema, R>(
  spec: ManagementRouteSpec<Q, B, R>,
): Route {
  const { needs = [] } = spec;
  return {
    ...declared('management', spec),
    needs,
    run: async (exchange) => {
      const is_verb = spec.takesVerb?.(exchange.ctx.request.headers.get('authorization')) ?? false;
      return runHandler(spec, is_verb ? acceptVerb(exchange) : acceptManager(exchange, needs));
    },
    read: ({ ctx }, caller) => readRecord(spec, { ctx, caller }),
  };
}

/** An endpoint that programs on this machine ask without a credential; from elsewhere it needs a token. */
export function machineRoute(
  spec: Pick<ManagementRouteSpec<TSchema, TSchema, unknown>, 'path' | 'summary' | 'tag' | 'description'> & {
    needs: readonly Capability[];
    /** Media type of what it answers. */
    produces: string;
    handle(): Promise<Response>;
  },
): Route {
  const { needs, handle } = spec;
  const asked = { ...spec, method: 'GET' as const };
  return {
    ...declared('machine', { ...asked, response: t.String() }),
    needs,
    run: async (exchange) =>
      isAskedLocally(exchange.ctx) ? handle() : runHandler(asked, acceptManager(exchange, needs)),
  };
}

/** An endpoint of the console for a signed-in person. Changes must come from our own pages. */
export function consoleRoute<Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<SessionCaller, Q, B, R>,
): Route {
  return {
    ...declared('console', spec),
    needs: [],
    async run(exchange) {
      const { ctx, deps } = exchange;
      const accepted = acceptSession(exchange);
      if (spec.method !== 'GET') requireConsoleRequest(ctx, deps.config, spec.body !== undefined);
      return runHandler(spec, accepted);
    },
  };
}

/** An endpoint of the console before sign-in. It answers over TLS or on this machine only. */
export function signInRoute<Q extends TSchema, B extends TSchema, R>(spec: SpecBase<null, Q, B, R>): Route {
  return {
    ...declared('console', spec),
    needs: null,
    async run(exchange) {
      const { ctx, deps } = exchange;
      requireConsoleRequest(ctx, deps.config, spec.body !== undefined);
      requirePrivateLine(ctx, deps.config);
      return runHandler(spec, nobody(exchange));
    },
  };
}

/** An endpoint of the management plane where whoever has no credential gets one. */
export function exchangeRoute<B extends TSchema>(spec: SpecBase<null, TSchema, B, unknown>): Route {
  return {
    ...declared('management', spec),
    needs: null,
    run: async (exchange) => runHandler(spec, nobody(exchange)),
  };
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
  /** Puts a change on the audit trail. Keys' changes are left out: they are every app's every request. */
  readonly note: Note;
  /** As `note`, by keys too: for what takes everything along. */
  readonly record: Note;
}

interface ProjectRouteSpec<Q extends TSchema, B extends TSchema, R> extends SpecBase<ProjectCaller, Q, B, R> {
  /** Capabilities that a caller of the management plane needs. */
  needs_of_manager?: readonly Capability[];
}

export interface BothPlanesSpec<Q extends TSchema, B extends TSchema, R> extends ProjectRouteSpec<Q, B, R> {
  /** Permissions that a key needs. */
  needs: readonly Permission[];
  mirror?: Mirror;
}

/** How the route of the management plane differs: its path below the project, its answer's shape, what is beside `data`. */
export type Mirror = Pick<RouteDocs, 'beside'> & { path?: string; response?: TSchema };

/** A route of the management plane below /projects/{project}: for who may see the project. */
export function projectRoute<Q extends TSchema, B extends TSchema, R>(
  spec: ProjectRouteSpec<Q, B, R>,
): Route {
  const { needs_of_manager: needs = [] } = spec;
  return {
    ...declared('management', spec),
    family: 'management',
    path: `/projects/:project${spec.path}`,
    needs,
    run: async (exchange) => runHandler(spec, acceptProjectManager(exchange, needs)),
    read: (exchange, manager) =>
      readRecord(spec, { ctx: exchange.ctx, caller: projectManagerOf(manager, exchange) }),
  };
}

/**
 * One declaration, two routes: on the data plane with an API key, and below /projects/{project} of the
 * management plane. They share handler and service; the envelope differs.
 */
export function bothPlanes<Q extends TSchema, B extends TSchema, R>(
  spec: BothPlanesSpec<Q, B, R>,
): [Route, Route] {
  const { needs } = spec;
  return [
    {
      ...declared('data', spec),
      needs,
      run: async (exchange) => runHandler(spec, acceptProjectKey(exchange, needs)),
    },
    projectRoute({ ...spec, ...spec.mirror }),
  ];
}

/** The path of the project's resources on the caller's plane. */
export function projectUrl(public_url: string, caller: ProjectCaller): string {
  return caller.key
    ? `${public_url}${PLANE_PREFIX.data}`
    : `${public_url}${PLANE_PREFIX.management}/projects/${caller.project.public_id}`;
}

interface OpenRouteSpec<F extends TSchema>
  extends Pick<
    RouteDocs,
    'summary' | 'tag' | 'description' | 'query' | 'response' | 'also' | 'headers' | 'always'
  > {
  plane: Plane;
  /** Of a success; 200 unless given. */
  status?: number;
  family?: Family;
  method: Method;
  path: string;
  /** Shape of the form that a page posts. Its texts are read as numbers and booleans where asked for. */
  form?: F;
  /** The path's project, at whose link domain the route answers, too; null where there is none. */
  projectOf?(ctx: RequestContext): number | null | Promise<number | null>;
  /**
   * The language of a page's subject; null: its reader's. Its refusals use it. Routes without it answer in
   * the failure's own words.
   */
  languageOf?(ctx: RequestContext): Language | null;
  /** Refuses, or counts whom it may refuse, before the form is read. */
  before?(ctx: RequestContext): Promise<void> | void;
  /** `acceptKey` authenticates, where the handler finds that the request needs a key. */
  handle(input: {
    ctx: RequestContext;
    form: Static<F>;
    acceptKey(needs: readonly Permission[]): KeyCaller;
  }): unknown;
}

/**
 * A route without credentials. GET changes nothing: mail scanners follow links. The route-walk test lists
 * every one of them.
 */
export function openRoute<F extends TSchema>(spec: OpenRouteSpec<F>): Route {
  return {
    ...declared(spec.plane, { ...spec, consumes: 'application/x-www-form-urlencoded' }),
    needs: null,
    projectOf: spec.projectOf,
    languageOf: spec.languageOf,
    async run(exchange) {
      const { ctx } = exchange;
      const acceptAndCount = (needs: readonly Permission[]): KeyCaller => {
        const { caller, takeRate } = acceptKey(exchange, needs);
        takeRate();
        return caller;
      };
      await spec.before?.(ctx);
      const form = spec.form
        ? parse(spec.form, await readForm(ctx.request, MAX_FORM_BODY_BYTES), { coerce: true })
        : undefined;
      // An absent schema has the type of an absent form; TypeScript cannot tie the two together.
      return spec.handle({ ctx, form: form as Static<F>, acceptKey: acceptAndCount });
    },
  };
}
