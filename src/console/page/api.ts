/** Requests to Satchel: typed by the OpenAPI document, with failures as one kind of error, and the state of the connection. */
import { signal } from '@preact/signals';
import type { Api } from './api.generated.ts';
import { noteServerDate } from './time.ts';

export type Endpoint = keyof Api;
type BodyOf<E extends Endpoint> = Api[E]['body'];
type Needed<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : keyof T extends never
    ? unknown
    : { [K in Name]: T };

/**
 * The version that was read, for a change of it. If somebody has changed it since, nothing happens, and the API
 * says so (409). Null is said by what does not depend on what was read, such as a button that turns a thing off.
 */
type Version<E extends Endpoint> = Api[E]['is_versioned'] extends true
  ? { if_match: string | null }
  : unknown;

/** The path's names, the query, the body and the version: what the endpoint has of them. */
export type Input<E extends Endpoint> = Needed<'path', Api[E]['path']> &
  Needed<'body', BodyOf<E>> &
  Version<E> & { query?: Api[E]['query'] };

/** An answer that is nothing but `data` is that; one with more (a page's `meta`) stays whole. */
export type Answer<E extends Endpoint> = Api[E]['answer'] extends { data: infer D }
  ? keyof Api[E]['answer'] extends 'data'
    ? D
    : Api[E]['answer']
  : Api[E]['answer'];

/** What went wrong, in the API's own words. */
export class ApiError extends Error {
  /** 0 where the server did not answer. */
  readonly status: number;
  readonly code: string;
  /** By field, as the API names it. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly details: Readonly<Record<string, unknown>>;
  readonly request_id: string | null;

  constructor(status: number, body: unknown, request_id: string | null) {
    const { message, code, errors, ...details } = readFailure(body);
    super(typeof message === 'string' ? message : `The server answered ${status} without saying why.`);
    this.status = status;
    this.code = typeof code === 'string' ? code : '';
    this.errors = readErrors(errors);
    this.details = details;
    this.request_id = request_id;
  }
}

/** Both envelopes: `{error: {code, message, details}}` and `{message, errors}`. */
function readFailure(body: unknown): Record<string, unknown> {
  if (!isObject(body)) return {};
  if (!isObject(body.error)) return body;
  const { details, ...error } = body.error;
  return { ...(isObject(details) ? details : {}), ...error };
}

function readErrors(errors: unknown): Record<string, string[]> {
  if (!isObject(errors)) return {};
  return Object.fromEntries(
    Object.entries(errors).map(([field, told]) => [
      field,
      Array.isArray(told) ? told.map(String) : [String(told)],
    ]),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Increases each time everything shown must be loaded again: the server is back, or what was read has changed. */
export const reloads = signal(0);
export const is_connected = signal(true);

/** Set by session.ts. */
export const onRefusal = {
  /** The session is over. Resolves once somebody has signed in: whether it is the same person, whose request is sent again. */
  signedOut: (): Promise<boolean> => Promise.resolve(false),
  /** The person may not do that: what they may has perhaps changed. */
  forbidden: (): void => {},
};

const RETRY_MS = 2000;

export function reloadAll(): void {
  reloads.value += 1;
}

async function isThere(): Promise<boolean> {
  const response = await fetch('/api/health', { cache: 'no-store' }).catch(() => null);
  return response?.ok === true;
}

async function loseConnection(): Promise<void> {
  if (!is_connected.value) return;
  is_connected.value = false;
  while (!is_connected.value) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    is_connected.value = await isThere();
  }
  reloadAll();
}

/** Whether what was not answered is missing from a server that is there. If it is not, this says so until it is again. */
export async function isMissing(): Promise<boolean> {
  if (await isThere()) return true;
  void loseConnection();
  return false;
}

/** Where a proxy stands before a Satchel that does not answer, it says so itself. */
function isOfProxy({ status, headers }: Response): boolean {
  return status >= 502 && status <= 504 && !headers.has('x-request-id');
}

/** A request to a path of the console's own, or of an endpoint. Throws ApiError. */
async function send(
  method: string,
  path: string,
  { body, if_match }: { body?: unknown; if_match?: string | null },
): Promise<Response> {
  const is_form = body instanceof FormData;
  const version = if_match ? newestOf(if_match) : null;
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      Accept: 'application/json',
      'X-Satchel-Console': '1',
      ...(body === undefined || is_form ? {} : { 'Content-Type': 'application/json' }),
      ...(version ? { 'If-Match': version } : {}),
    },
    ...(body === undefined ? {} : { body: is_form ? body : JSON.stringify(body) }),
  }).catch(() => null);
  if (response === null || isOfProxy(response)) {
    void loseConnection();
    throw new ApiError(0, { message: method === 'GET' ? UNANSWERED_READ : UNANSWERED_CHANGE }, null);
  }
  noteServerDate(response.headers.get('date'));
  if (!response.ok)
    throw new ApiError(response.status, parse(await response.text()), response.headers.get('x-request-id'));
  if (version) noteChange(version, response.headers.get('etag'));
  return response;
}

const UNANSWERED_READ = 'Satchel does not answer. Nothing is lost: try again once it does.';
/** Nobody knows whether the request arrived: it is never sent again by itself. */
const UNANSWERED_CHANGE =
  'Satchel did not answer, so that this may be done or not. What you entered is kept: once Satchel answers, look before you send it again.';

/** Which version our own change made of another: who goes on with what they read before it has seen both. */
const successors = new Map<string, string>();

function newestOf(version: string): string {
  const next = successors.get(version);
  return next === undefined ? version : newestOf(next);
}

function noteChange(from: string, made: string | null): void {
  if (made === null || made === from) return;
  successors.set(from, made);
  // It may have been there before: a change that was taken back.
  successors.delete(made);
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address of an endpoint with its path's names and query filled in. */
export function addressOf(endpoint: string, input: { path?: object; query?: object } = {}): string {
  const names = new Map<string, unknown>(Object.entries(input.path ?? {}));
  const path = endpoint
    .replace(/^[A-Z]+ /, '')
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(names.get(name) ?? '')));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    // The members of a record stand one by one, as the API reads them.
    if (isObject(value))
      for (const [key, of] of Object.entries(value)) query.set(`${name}.${key}`, String(of));
    else if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const prefix = path.startsWith('/console/') ? '' : '/api/public/v1';
  return `${prefix}${path}${query.size > 0 ? `?${query}` : ''}`;
}

/**
 * Calls an endpoint of the management plane, or of the console itself. Throws ApiError; a session that has ended asks to sign in, and goes on.
 * The answer has the type that the OpenAPI document gives it: the server that sent the page is the one that answers.
 */
export async function call<E extends Endpoint>(endpoint: E, input: Input<E>): Promise<Answer<E>> {
  return (await callTelling(endpoint, input)).answer;
}

/** As `call`, of an endpoint that may say that the thing was there already, or which version it answered. */
export async function callTelling<E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
): Promise<{ answer: Answer<E>; is_duplicate: boolean; etag: string | null }> {
  const response = await callRaw(endpoint, input);
  const answer = parse(await response.text());
  const is_duplicate = isObject(answer) && answer.duplicate === true;
  const is_plain = isObject(answer) && (is_duplicate || Object.keys(answer).join() === 'data');
  const etag = response.headers.get('etag');
  return { answer: (is_plain ? answer.data : answer) as Answer<E>, is_duplicate, etag };
}

/** As `call`, of what answers a file. */
export async function callRaw<E extends Endpoint>(endpoint: E, input: Input<E>): Promise<Response> {
  const { path, query, ...rest } = input as { path?: object; query?: object; body?: unknown };
  const [method = 'GET'] = endpoint.split(' ');
  try {
    return await send(method, addressOf(endpoint, { ...(path && { path }), ...(query && { query }) }), rest);
  } catch (error) {
    // Of the session itself, a refusal says no more than itself: somebody signs in, or is asked who they are.
    if (!(error instanceof ApiError) || endpoint.endsWith(' /console/session')) throw error;
    if (error.status === 403) onRefusal.forbidden();
    if (error.status === 401 && (await onRefusal.signedOut())) return callRaw(endpoint, input);
    throw error;
  }
}
