/**
 * From a request to a handler's input: authenticate, check the permission, count the rate, read the body,
 * find the resource, validate. This file keeps the order of refusals for every route.
 */
import type { Config } from '../../config.ts';
import { AppError, invalid } from '../../errors.ts';
import { type Note, noNote, recordAudit } from '../database/audit-trail.ts';
import { isOfMissingRow } from '../database/database.ts';
import { parseJsonObject, readBody, readSmallBody } from './body.ts';
import { isConsoleRequest, readSessionCookie } from './browser.ts';
import {
  type Actor,
  ADMINISTER,
  actorOf,
  type Capability,
  type KeyCaller,
  type KeyCredentials,
  keyActor,
  type ManagementCaller,
  type Permission,
  requireCapabilities,
  requirePermissions,
  requireWriting,
  type SessionCaller,
} from './callers.ts';
import { requireHolding } from './capabilities.ts';
import { ignoredNames } from './ignored-fields.ts';
import type { Rate } from './rate-limit.ts';
import type { Exchange, HttpDeps, Inputs, ProjectCaller, ProjectRef, SpecBase } from './routes.ts';
import { readParameters, type Static, type TSchema } from './schema.ts';
import { allErrors, requireValid, type Validated, validate } from './validation.ts';

/** A JSON body: two default email bodies, escaped, and variables (it grows with the email limit). */
const MIN_JSON_BODY_BYTES = 5 * 1024 * 1024;
/** Decision: 6,000 requests a minute for each management token; a person gets as many. */
const MANAGEMENT_RATE_PER_MINUTE = 6_000;

/** A request whose caller is accepted. */
export interface Accepted<C> extends Exchange {
  caller: C;
  /** Uses up one of the caller's rate. */
  takeRate(): void;
  /** Authenticates again. Throws where the caller has lost access meanwhile. */
  acceptAgain(): C;
}

/* --- Who asks, and may they ------------------------------------------------------------------------------------ */

/** 401, then 403 for origin or app, then 403 for permission, then the rate: refusals use none of it. */
export function acceptKey(
  exchange: Exchange,
  needs: readonly Permission[],
  authenticate = (): KeyCaller => exchange.deps.authenticateKey(credentialsOf(exchange.ctx.request)),
): Accepted<KeyCaller> {
  const caller = authenticate();
  const takeRate = noteCaller(exchange, `key:${caller.key_id}`, rateOfKey(caller));
  const accept = (key: KeyCaller): KeyCaller => {
    requirePermissions(key, needs);
    return key;
  };
  return { ...exchange, caller: accept(caller), takeRate, acceptAgain: () => accept(authenticate()) };
}

function credentialsOf({ headers }: Request): KeyCredentials {
  return {
    api_key: headers.get('x-api-key'),
    origin: headers.get('origin'),
    app_id: headers.get('x-app-id'),
    android_package: headers.get('x-android-package'),
    android_cert: headers.get('x-android-cert'),
  };
}

/** How often a key may ask for anything, by HTTP and SMTP together. */
export function rateOfKey({ rate_limit_per_minute }: Pick<KeyCaller, 'rate_limit_per_minute'>): Rate {
  return { limit: rate_limit_per_minute, per: 'minute', what: 'Requests of this API key' };
}

/** 401, then 403 for who is read-only or lacks a capability. The caller's rate is taken after them. */
export function acceptManager(exchange: Exchange, needs: readonly Capability[]): Accepted<ManagementCaller> {
  return acceptAs(exchange, needs, () => findManager(exchange));
}

/** As `acceptManager`, by an Authorization alone: no session of a browser counts. */
export function acceptToken(
  exchange: Exchange,
  needs: readonly Capability[],
  authorization: string | null,
): Accepted<ManagementCaller> {
  const { ctx, deps } = exchange;
  return acceptAs(exchange, needs, () => deps.authenticateToken(authorization, ctx.ip));
}

function acceptAs(
  exchange: Exchange,
  needs: readonly Capability[],
  find: () => ManagementCaller,
): Accepted<ManagementCaller> {
  const caller = find();
  const takeRate = noteManager(exchange, caller);
  const accept = (manager: ManagementCaller): ManagementCaller => {
    exchange.trace.manager = manager;
    if (!exchange.only_reads) requireWriting(manager);
    requireCapabilities(manager, needs);
    return manager;
  };
  exchange.trace.is_for_everybody = needs.includes(ADMINISTER);
  return {
    ...exchange,
    caller: accept(caller),
    takeRate,
    acceptAgain: () => accept(find()),
  };
}

const VERB: ManagementCaller = {
  kind: 'token',
  id: 0,
  name: 'a verb beside the server',
  all_projects: true,
  project_ids: [],
  capabilities: new Set([ADMINISTER]),
  read_only: true,
};

/** For a route that has told by itself that a verb of this machine asks. */
export function acceptVerb(exchange: Exchange): Accepted<ManagementCaller> {
  return { ...exchange, caller: VERB, takeRate: () => {}, acceptAgain: () => VERB };
}

/** 401, for a person who is not signed in. */
export function acceptSession(exchange: Exchange): Accepted<SessionCaller> {
  const acceptAgain = (): SessionCaller => {
    const session = sessionOf(exchange);
    if (!session) throw new AppError('unauthenticated', 'You are not signed in, or no longer.');
    return session;
  };
  const caller = acceptAgain();
  return { ...exchange, caller, takeRate: noteManager(exchange, caller.person), acceptAgain };
}

/** As `acceptKey`, for a key that acts for its project. */
export function acceptProjectKey(exchange: Exchange, needs: readonly Permission[]): Accepted<ProjectCaller> {
  const { ctx, deps } = exchange;
  return actingAs(acceptKey(exchange, needs), (key) => {
    const project = { id: key.project_id, public_id: key.project_public_id };
    const actor = keyActor(key, ctx.ip);
    const record = recorder(deps, actor, project);
    return { project, key, manager: null, identity: `key:${key.key_id}`, actor, note: noNote, record };
  });
}

function recorder({ clock }: Pick<HttpDeps, 'clock'>, actor: Actor, project: ProjectRef): Note {
  return (tx, entry) => recordAudit(tx, actor, { ...entry, project }, clock.now());
}

/** As `acceptManager`, for the path's project. One that the caller may not see is 404, after the rate. */
export function acceptProjectManager(
  exchange: Exchange,
  needs: readonly Capability[],
): Accepted<ProjectCaller> {
  const accepted = acceptManager(exchange, needs);
  accepted.takeRate();
  const acting = actingAs(accepted, (manager) => projectManagerOf(manager, exchange));
  return { ...acting, takeRate: () => {} };
}

/** Throws the 404 of a project that the caller may not see. */
export function projectManagerOf(
  manager: ManagementCaller,
  { ctx, deps }: Pick<Exchange, 'ctx' | 'deps'>,
): ProjectCaller {
  const project = deps.findProject(manager, ctx.params.project ?? '');
  const actor = actorOf(manager, ctx.ip);
  const record = recorder(deps, actor, project);
  const identity = `${manager.kind}:${manager.id}`;
  return { project, key: null, manager, identity, actor, note: record, record };
}

function actingAs<C, As>(accepted: Accepted<C>, as: (caller: C) => As): Accepted<As> {
  return { ...accepted, caller: as(accepted.caller), acceptAgain: () => as(accepted.acceptAgain()) };
}

function findManager(exchange: Exchange): ManagementCaller {
  const { ctx, deps, is_file } = exchange;
  const authorization = ctx.request.headers.get('authorization');
  const is_bearer = /^\s*bearer\b/i.test(authorization ?? '');
  const counts = !is_bearer && isConsoleRequest(ctx, deps.config, { is_file });
  return (counts ? sessionOf(exchange)?.person : undefined) ?? deps.authenticateToken(authorization, ctx.ip);
}

function sessionOf({ ctx, deps }: Exchange): SessionCaller | null {
  const secret = readSessionCookie(ctx.request, deps.config);
  return secret === null ? null : deps.authenticateSession(secret);
}

function noteManager(exchange: Exchange, caller: ManagementCaller): () => void {
  return noteCaller(exchange, `${caller.kind}:${caller.id}`, {
    limit: MANAGEMENT_RATE_PER_MINUTE,
    per: 'minute',
    what: caller.kind === 'token' ? 'Requests of this access token' : 'Your requests',
  });
}

/** Notes who calls and what is left of their rate, for refusals too. The returned function uses one up. */
function noteCaller({ deps, trace }: Exchange, caller: string, rate: Rate): () => void {
  trace.caller = caller;
  trace.rate = deps.limiter.peek(caller, rate);
  return () => {
    trace.rate = deps.limiter.take(caller, rate);
  };
}

/* --- Is it well formed ------------------------------------------------------------------------------------------ */

/** Where there is no caller. Its handler takes none: TypeScript can't tie the two together. */
export function nobody<C>(exchange: Exchange): Accepted<C> {
  return { ...exchange, caller: null as C, takeRate: () => {}, acceptAgain: () => null as C };
}

/** Everything from an accepted caller to the handler's result. */
export async function runHandler<C, Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R>,
  accepted: Accepted<C>,
): Promise<unknown> {
  const { ctx, deps, trace } = accepted;
  const acceptAgain = (): C => {
    const caller = accepted.acceptAgain();
    spec.authorize?.({ ctx, caller });
    return caller;
  };
  spec.authorize?.(accepted);
  if (!spec.authorizeBody) accepted.takeRate();
  if (spec.count) {
    spec.load?.(accepted);
    await spec.count(accepted);
  }
  const handle = (): Promise<unknown> => readAndHandle(spec, { ...accepted, acceptAgain });
  // Before anything of the body is read: to take it apart is work, too.
  return spec.may_take_long ? deps.limiter.atOnce(trace.caller ?? '', handle) : handle();
}

async function readAndHandle<C, Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R>,
  accepted: Accepted<C>,
): Promise<unknown> {
  const { ctx, deps, trace, takeRate, acceptAgain } = accepted;
  // The body is read before the resource is found, so that no row grows old meanwhile. It is validated after.
  const sent = spec.body ? await readSent(ctx.request, spec, deps.config) : NOTHING_SENT;
  // A slow body may take minutes. A caller who lost access meanwhile must not make themselves a new key.
  const caller = spec.body ? acceptAgain() : accepted.caller;
  trace.ignored = ignoredNames(spec, ctx.url, 'error' in sent ? {} : sent.value);
  if (spec.authorizeBody) {
    spec.authorizeBody({ caller, sent: 'error' in sent ? {} : sent.value });
    // After the refusals, which use up none of the rate.
    takeRate();
  }
  // Where a schema or `load` is missing, so is its input. TypeScript can't tie the two together.
  const resource = spec.load?.({ ctx, caller }) as R;
  if ('error' in sent) throw sent.error;
  const query = readQuery(spec.query, ctx.url);
  const found = spec.body ? validate(spec.body, sent.value) : { value: {}, errors: {} };
  try {
    const body = requireValid(found);
    const inputs = { ctx, caller, query, body, raw: sent.raw, resource, acceptAgain } as Inputs<C, Q, B, R>;
    if (spec.method === 'GET' || spec.method === 'HEAD') return await spec.handle(inputs);
    // Checked here as well, as not every request goes on to change a row.
    trace.guard?.();
    const held = trace.manager;
    const stillMay = (): void => {
      const now = acceptAgain();
      if (trace.is_for_everybody && held && trace.manager) requireHolding(trace.manager, held);
      spec.authorizeBody?.({ caller: now, sent: 'error' in sent ? {} : sent.value });
      spec.load?.({ ctx, caller: now });
      trace.guard?.();
    };
    return await deps.guarded(stillMay, async () => spec.handle(inputs));
  } catch (error) {
    // Where the resource, or the caller's access, went while the request ran, that is the answer.
    if (isOfMissingRow(error)) {
      const present = acceptAgain();
      spec.load?.({ ctx, caller: present });
    }
    throw withAllErrors(error, spec, { found, caller, resource });
  }
}

/** What a route without body and query answers now: for the ETag of a record. */
export function readRecord<C, Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R>,
  { ctx, caller }: Pick<Inputs<C, Q, B, R>, 'ctx' | 'caller'>,
): unknown {
  const resource = spec.load?.({ ctx, caller }) as R;
  const acceptAgain = (): C => caller;
  const inputs = { ctx, caller, query: {}, body: {}, raw: new Uint8Array(0), resource, acceptAgain };
  return (spec.record ?? spec.handle)(inputs as Inputs<C, Q, B, R>);
}

function readQuery<Q extends TSchema>(schema: Q | undefined, url: URL): Static<Q> | undefined {
  if (!schema) return undefined;
  return requireValid(validate(schema, readParameters(schema, url.searchParams), { coerce: true }));
}

/** The refusal of a body with everything that is wrong with it, not just what was found first. */
function withAllErrors<C, Q extends TSchema, B extends TSchema, R>(
  error: unknown,
  spec: SpecBase<C, Q, B, R>,
  input: { found: Validated<B>; caller: C; resource: R },
): unknown {
  // An error with a code or details is about more than the body: a mail that a relay refused, say.
  const is_of_body = error instanceof AppError && error.kind === 'invalid' && !error.code && !error.details;
  if (!spec.errorsIn || !is_of_body) return error;
  const { found, caller, resource } = input;
  const { errorsIn } = spec;
  const errors = allErrors(found, (body) => errorsIn({ caller, body, resource }), spec.together);
  return invalid({ ...errors, ...error.errors }, error.remedy ? { remedy: error.remedy } : {});
}

type Sent = { raw: Uint8Array; value: Record<string, unknown> } | { error: unknown };
const NOTHING_SENT: Sent = { raw: new Uint8Array(0), value: {} };

/** The body as it came. A failure to read it is kept, to be thrown when the body is validated. */
async function readSent(
  request: Request,
  { max_body_bytes }: { max_body_bytes?: number },
  { max_email_body_bytes }: Config,
): Promise<Sent> {
  try {
    const raw = await (max_body_bytes === undefined
      ? readBody(request, Math.max(MIN_JSON_BODY_BYTES, 4 * max_email_body_bytes))
      : readSmallBody(request, max_body_bytes));
    return { raw, value: parseJsonObject(raw) };
  } catch (error) {
    return { error };
  }
}
