/**
 * Requests to Satchel, by what the client of apps stands on too: typed by the OpenAPI document, with failures as one kind of error,
 * and the state of the connection.
 */
import { signal } from '@preact/signals';
import * as client from '../../operation/client/core.ts';
import { isObject, isUnanswered, parse, SatchelError } from '../../operation/client/core-failures.ts';
import type { UploadOptions } from '../../operation/client/core-uploads.ts';
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

/** As much of an input as there may be. */
type Sent = Partial<Record<'path' | 'query', object>> & { body?: unknown; if_match?: string | null };

/** An answer that is nothing but `data` is that; one with more (a page's `meta`) stays whole. `callTelling` tells of a duplicate. */
export type Answer<E extends Endpoint> = Api[E]['answer'] extends { data: infer D }
  ? keyof Api[E]['answer'] extends 'data' | 'duplicate'
    ? D
    : Api[E]['answer']
  : Api[E]['answer'];

/** A failure in the API's own words; `status` is 0 where the server did not answer. */
export { isObject, SatchelError as ApiError } from '../../operation/client/core-failures.ts';
export type { Progress } from '../../operation/client/core-uploads.ts';

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

/** Says whether what was not answered is missing from a server that is there. If it is not, this says so until it is again. */
export async function isMissing(): Promise<boolean> {
  if (await isThere()) return true;
  void loseConnection();
  return false;
}

/** Whoever sits before it sees at once what went wrong, and tries again where that makes sense. */
const satchel = client.connect({
  url: location.origin,
  headers: { Accept: 'application/json', 'X-Satchel-Console': '1' },
  tries: 1,
  async fetch(address, init) {
    const response = await fetch(address, init);
    noteServerDate(response.headers.get('date'));
    return response;
  },
});

/** A request to an endpoint. Throws ApiError. */
async function send(
  endpoint: Endpoint,
  { path = {}, query = {}, body, if_match = null }: Sent,
): Promise<Response> {
  const { method, template } = placeOf(endpoint);
  const version = if_match ? newestOf(if_match) : null;
  const headers: Record<string, string> = version ? { 'If-Match': version } : {};
  const response = await satchel
    .response(method, template, { path, query, body, headers })
    .catch((error: unknown) => {
      if (!(error instanceof SatchelError) || !isUnanswered(error)) throw error;
      void loseConnection();
      throw new SatchelError(0, { message: method === 'GET' ? UNANSWERED_READ : UNANSWERED_CHANGE });
    });
  if (version) noteChange(version, response.headers.get('etag'));
  return response;
}

const UNANSWERED_READ = 'Satchel does not answer. Nothing is lost: try again once it does.';
/** Nobody knows whether the request arrived: it is never sent again by itself. */
const UNANSWERED_CHANGE =
  'Satchel did not answer, so that this may be done or not. What you entered is kept: once Satchel answers, look before you send it again.';

/** Versions by the ones that our own changes replaced: whoever goes on with what they read before has seen both. */
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

/** The method of an endpoint, and its path with the prefix of its plane. */
function placeOf(endpoint: Endpoint): { method: string; template: string } {
  const [method = '', path = ''] = endpoint.split(' ');
  return { method, template: path.startsWith('/console/') ? path : `/api/public/v1${path}` };
}

/** The address of an endpoint with its path's names and query filled in. */
export function addressOf(endpoint: Endpoint, input: { path?: object; query?: object } = {}): string {
  return client.addressOf(placeOf(endpoint).template, input);
}

/** Stores a file of a project, and returns its record. Throws ApiError; what does not arrive, and what the signal breaks off, is one of no status. */
export async function uploadFile(
  project: string,
  file: File,
  options: UploadOptions & Partial<Record<'visibility' | 'expires_in_days', string>>,
): Promise<Answer<'POST /projects/{project}/objects'>> {
  const { method, template } = placeOf('POST /projects/{project}/objects');
  try {
    const at = { path: { project }, field: 'file' };
    const { data } = await satchel.upload<{ data: Answer<'POST /projects/{project}/objects'> }>(
      method,
      template,
      at,
      file,
      options,
    );
    return data;
  } catch (error) {
    const { status } = error instanceof SatchelError ? error : { status: 0 };
    if (status === 0) throw new SatchelError(0, { message: BROKEN_OFF });
    if (status === 401 && (await onRefusal.signedOut())) return uploadFile(project, file, options);
    throw error;
  }
}

const BROKEN_OFF = 'The connection broke off. Nothing of the file is stored.';

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

/** Of what may take long the server does two at once for a person, and asks the next one to come a second later. */
const SOON_S = 1;
const MAX_TRIES = 10;

/** As `call`, of what answers a file. */
export async function callRaw<E extends Endpoint>(
  endpoint: E,
  input: Input<E>,
  tries = MAX_TRIES,
): Promise<Response> {
  try {
    // The endpoint's type says which of them it has.
    return await send(endpoint, input as Sent);
  } catch (error) {
    // Of the session itself, a refusal says no more than itself: somebody signs in, or is asked who they are.
    if (!(error instanceof SatchelError) || / \/console\/session(\/passkey)?$/.test(endpoint)) throw error;
    if (error.status === 429 && error.retryAfter === SOON_S && tries > 1) {
      await new Promise((resolve) => setTimeout(resolve, SOON_S * 1000));
      return callRaw(endpoint, input, tries - 1);
    }
    if (error.status === 403) onRefusal.forbidden();
    if (error.status === 401 && (await onRefusal.signedOut())) return callRaw(endpoint, input);
    throw error;
  }
}
