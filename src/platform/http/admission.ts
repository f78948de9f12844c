/**
 * From a request to what a handler gets: authenticate, check the permission, count the rate, read the body, find the
 * resource, validate. The order of refusals is kept here, for every route alike.
 */
import type { Config } from '../../config.ts';
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import { MIN_JSON_BODY_BYTES } from '../../limits.ts';
import { isOfMissingRow } from '../database/foreign-keys.ts';
import type { Clock } from '../host/clock.ts';
import type { Logger } from '../host/logger.ts';
import type { Family } from './answers.ts';
import { parseJsonObject, readBody, readSmallBody } from './body.ts';
import {
  type KeyCaller,
  type KeyCredentials,
  type ManagementCaller,
  type Permission,
  requirePermissions,
  type SessionCaller,
} from './callers.ts';
import { ignoredNames } from './ignored-fields.ts';
import type { Rate, RateLimiter, RateState } from './rate-limit.ts';
import type { Method, RouteDocs } from './routes.ts';
import { requireValid, type Static, type TSchema, type Validated, validate } from './schema.ts';

/** What the pipeline needs of the nouns; app/ hands it in. */
export interface HttpDeps {
  config: Config;
  clock: Clock;
  logger: Logger;
  limiter: RateLimiter;
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
  /** See Database. */
  settled(): Promise<void> | null;
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
  /** Lifts the server's idle time-out, for a body or an answer that may take long. */
  keepOpen(): void;
  /** Puts the idle time-out back: a client that was refused must not keep its connection by staying silent. */
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
  /** Checked again when something is changed: throws where the record has changed since the client read it (etags.ts), or the
   * caller has lost powers since (routes.ts). */
  guard?: () => void;
}

interface Inputs<C, Q extends TSchema, B extends TSchema, R> {
  ctx: RequestContext;
  caller: C;
  query: Static<Q>;
  body: Static<B>;
  /** The JSON bytes as sent. */
  raw: Uint8Array;
  resource: R;
  /** Authenticates again, for a handler that has waited for the client. Throws where the caller has lost access meanwhile. */
  acceptAgain(): C;
}

/** What the routes that need a credential have in common; `C` is who calls. */
export interface SpecBase<C, Q extends TSchema, B extends TSchema, R>
  extends Pick<
    RouteDocs,
    'summary' | 'tag' | 'description' | 'also' | 'headers' | 'is_idempotent' | 'beside' | 'unversioned'
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
  /** What a JSON body may have at most, where that is less than elsewhere: more is 413. */
  max_body_bytes?: number;
  /** Shape of a multipart form that the handler reads by itself; for the documentation. */
  form?: TSchema;
  /** Throws a 403 that depends on the caller, before anything of the body is read. */
  authorize?(input: { ctx: RequestContext; caller: C }): void;
  /**
   * Throws the 403 that depends on the body; it comes before 404 and 422. `sent` is the body as it came, empty where it is
   * no JSON object.
   */
  authorizeBody?(input: { caller: C; sent: Readonly<Record<string, unknown>> }): void;
  /** Counts a stranger's request, after the resource was found and before the body is read. Throws the 429. */
  count?(input: { ctx: RequestContext; caller: C }): Promise<void>;
  /**
   * Finds the resource that the path names, or throws 404, which comes before validation. Called again in the transaction of the
   * first change, since another request may have deleted it meanwhile; so it must change nothing itself.
   */
  load?(input: { ctx: RequestContext; caller: C }): R;
  /**
   * What is wrong with a body beyond its schema. Called once a body is refused, so that the client is told everything at once:
   * `body` has the fields that fit the schema.
   */
  errorsIn?(input: { caller: C; body: Partial<Static<B>>; resource: R }): FieldErrors;
  /** Fields of which one may stand for another: where one breaks the schema, those that were not sent are not asked for. */
  together?: readonly (keyof Static<B>)[];
  handle(input: Inputs<C, Q, B, R>): unknown;
}

/** 401, origin or app 403, permission 403. The key's rate is taken after them: refused requests use none of it up. */
export function acceptKey(
  ctx: RequestContext,
  deps: HttpDeps,
  trace: Trace,
  needs: readonly Permission[],
): Pick<Accepted<KeyCaller>, 'caller' | 'takeRate' | 'acceptAgain'> {
  const { headers } = ctx.request;
  const authenticate = (): KeyCaller =>
    deps.authenticateKey({
      api_key: headers.get('x-api-key'),
      origin: headers.get('origin'),
      app_id: headers.get('x-app-id'),
      android_package: headers.get('x-android-package'),
      android_cert: headers.get('x-android-cert'),
    });
  const caller = authenticate();
  const takeRate = noteCaller({ deps, trace }, `key:${caller.key_id}`, {
    limit: caller.rate_limit_per_minute,
    per: 'minute',
    what: 'Requests of this API key',
  });
  const accept = (key: KeyCaller): KeyCaller => {
    requirePermissions(key, needs);
    return key;
  };
  return { caller: accept(caller), takeRate, acceptAgain: () => accept(authenticate()) };
}

/** Notes who calls and what is left of their rate, for refusals too. The returned function uses one up. */
export function noteCaller(
  { deps, trace }: { deps: HttpDeps; trace: Trace },
  caller: string,
  rate: Rate,
): () => void {
  trace.caller = caller;
  trace.rate = deps.limiter.peek(caller, rate);
  return () => {
    trace.rate = deps.limiter.take(caller, rate);
  };
}

/** What a request of an accepted caller brings with it. */
export interface Accepted<C> {
  ctx: RequestContext;
  deps: HttpDeps;
  trace: Trace;
  caller: C;
  takeRate(): void;
  /** Authenticates again. Throws where the caller has lost access meanwhile. */
  acceptAgain(): C;
}

/** Everything from an accepted caller to the handler's result. */
export async function runHandler<C, Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R>,
  accepted: Accepted<C>,
): Promise<unknown> {
  const { ctx, deps, trace, takeRate } = accepted;
  const authorize = (known: C): C => {
    spec.authorize?.({ ctx, caller: known });
    return known;
  };
  const acceptAgain = (): C => authorize(accepted.acceptAgain());
  authorize(accepted.caller);
  if (!spec.authorizeBody) takeRate();
  if (spec.count) {
    spec.load?.(accepted);
    await spec.count(accepted);
  }
  // The body is read before the resource is looked up, so that no row grows old during an await. It is validated after.
  const sent = spec.body ? await readSent(ctx.request, spec, deps.config) : NOTHING_SENT;
  // A slow body may take minutes, in which the caller may lose access: authenticated again, they can't make themselves a new key.
  const caller = spec.body ? acceptAgain() : accepted.caller;
  trace.ignored = ignoredNames(spec, ctx.url, 'error' in sent ? {} : sent.value);
  if (spec.authorizeBody) {
    spec.authorizeBody({ caller, sent: 'error' in sent ? {} : sent.value });
    // After the refusals, which use up none of the rate.
    takeRate();
  }
  // An absent schema, or an absent `load`, has the type of an absent input; TypeScript cannot tie the two together.
  const resource = spec.load?.({ ctx, caller }) as R;
  if ('error' in sent) throw sent.error;
  const query = readQuery(spec.query, ctx.url);
  const found = spec.body ? validate(spec.body, sent.value) : { value: {}, errors: {} };
  try {
    const body = requireValid(found);
    const inputs = { ctx, caller, query, body, raw: sent.raw, resource, acceptAgain } as Inputs<C, Q, B, R>;
    if (spec.method === 'GET' || (!spec.load && !trace.guard)) return await spec.handle(inputs);
    // Checked here as well, as not every request goes on to change a row.
    trace.guard?.();
    const stillIs = (): void => {
      spec.load?.({ ctx, caller });
      trace.guard?.();
    };
    return await deps.guarded(stillIs, async () => spec.handle(inputs));
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
  { ctx, caller }: { ctx: RequestContext; caller: C },
): unknown {
  const resource = spec.load?.({ ctx, caller }) as R;
  const acceptAgain = (): C => caller;
  const inputs = { ctx, caller, query: {}, body: {}, raw: new Uint8Array(0), resource, acceptAgain };
  return spec.handle(inputs as Inputs<C, Q, B, R>);
}

function readQuery<Q extends TSchema>(schema: Q | undefined, url: URL): Static<Q> | undefined {
  if (!schema) return undefined;
  return requireValid(validate(schema, Object.fromEntries(url.searchParams), { coerce: true }));
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
  const topOf = (path: string): string => path.split('.')[0] ?? path;
  const broken = new Set(Object.keys(found.errors).map(topOf));
  const sound = Object.entries(found.value).filter(([field]) => !broken.has(field));
  const body = Object.fromEntries(sound) as Partial<Static<B>>; // Some of its fields.
  const together: readonly PropertyKey[] = spec.together ?? [];
  const is_unsure = [...broken].some((field) => together.includes(field));
  const isTold = (field: string): boolean =>
    !broken.has(field) && !(is_unsure && together.includes(field) && !Object.hasOwn(body, field));
  const rules = Object.entries(spec.errorsIn({ caller, body, resource })).filter(([path]) =>
    isTold(topOf(path)),
  );
  return invalid({ ...Object.fromEntries(rules), ...error.errors });
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
