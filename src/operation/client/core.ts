/**
 * What every client of Satchel stands on: requests and their retries. `satchel client typescript` prints
 * this, core-failures.ts and core-uploads.ts into the client that it writes. The console's page sends its
 * requests through them. So the three import nothing else, run in browsers, Node 20 and Bun, and use the
 * types that these share.
 */
import { failureOf, isObject, isUnanswered, parse, SatchelError } from './core-failures.ts';
import {
  deliveryOf,
  fileOf,
  hasXhr,
  randomName,
  type UploadOptions,
  type UploadSource,
} from './core-uploads.ts';

/** Another try never waits for longer: who is told to come back later than that is told by the error. */
const MAX_WAIT_S = 60;
const MAX_TRIES = 3;
/** Before the second try where nobody says how long to wait; twice that before the third. */
const BACKOFF_MS = 500;

/** What is the same for all requests. */
export interface Connection {
  /** Where Satchel answers, such as `https://satchel.example.com`. */
  url: string;
  /** The API key. It leaves in the header X-API-Key, to this address and no other. */
  key?: string;
  /** Sent with every request, such as the X-App-Id of an app that the key is restricted to. */
  headers?: Readonly<Record<string, string>>;
  /** In place of the runtime's own, but for uploads with onProgress in a browser. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a request is sent at most, from 1 to 3; 3 unless given. */
  tries?: number;
}

/** What any call takes. */
export interface CallOptions {
  /** Ends the call, and the wait before another try; it then throws the signal's reason. */
  signal?: AbortSignal;
  /** For this call alone. */
  headers?: Readonly<Record<string, string>>;
}

/** Of a call that Satchel does once under one key, however often it is sent. */
export interface OnceOptions extends CallOptions {
  /** Made for each call unless given. One of your own holds over a restart of your app, for 24 hours. */
  idempotencyKey?: string;
}

/** A call of an endpoint, as the methods below make it. */
export interface Call extends OnceOptions {
  /** What stands for the names in the path. */
  path?: object;
  query?: object;
  /** Sent as JSON, unless it is a form. */
  body?: unknown;
  /** The endpoint takes an Idempotency-Key, so the call may be sent again. */
  is_once?: boolean;
}

/** The path of an endpoint with its names and query. Throws TypeError where a name has no value. */
export function addressOf(endpoint: string, { path = {}, query = {} }: Pick<Call, 'path' | 'query'>): string {
  const names = new Map<string, unknown>(Object.entries(path));
  const filled = endpoint.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(names.get(name) ?? '');
    // These would lead to another endpoint.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`"${value}" is no ${name}.`);
    return encodeURIComponent(value);
  });
  const asked = new URLSearchParams();
  const entries: [string, unknown][] = Object.entries(query);
  for (const [name, value] of entries) {
    // The members of a record become one parameter each. Items of an array are joined by commas.
    if (isObject(value))
      for (const [member, of] of Object.entries(value)) asked.set(`${name}.${member}`, String(of));
    else if (value !== undefined && value !== null && value !== '') asked.set(name, String(value));
  }
  const text = asked.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

export type Sender = (url: string, init: Sent) => Promise<Response>;

/** What is handed to fetch, as far as it is set here. */
export interface Sent {
  method: string;
  headers: Record<string, string>;
  redirect: 'manual' | 'follow';
  body?: string | FormData | ReadableStream<Uint8Array>;
  signal?: AbortSignal;
  /** What Node wants to be told of a body that is streamed. */
  duplex?: 'half';
}

/** What a request needs beyond its call: a body made anew for each try, and who sends it. */
export interface Delivery<T> {
  read(response: Response): Promise<T>;
  /** Whether it is the answer itself that is wanted, one that says "elsewhere" or "not changed" too. */
  is_raw?: boolean;
  /** False where the body is gone once it was sent. */
  is_replayable?: boolean;
  bodyOf?(): Pick<Sent, 'body' | 'duplex'> & { headers?: Record<string, string> };
  send?: Sender;
  /** What went wrong as the body was read, in its source rather than on its way. */
  brokenBy?(): unknown;
}

/** How the methods call. */
export type Calls = ReturnType<typeof connect>;

/** Calls over one connection. Throws TypeError where url or key can be none, without repeating the key. */
export function connect(connection: Connection) {
  const { url, key, headers: common = {}, tries = MAX_TRIES } = connection;
  const send: Sender = connection.fetch ?? ((address, init) => fetch(address, init));
  const { protocol, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '')
    throw new TypeError('url must be an http or https address, without user and password.');
  // Fetch itself would tell such a key in its error.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('key must be an API key, without spaces or line breaks.');
  const base = url.replace(/\/+$/, '');

  async function request<T>(method: string, endpoint: string, call: Call, delivery: Delivery<T>): Promise<T> {
    const address = base + addressOf(endpoint, call);
    const { signal } = call;
    const headers: Record<string, string> = { ...common, ...call.headers };
    if (key !== undefined) headers['X-API-Key'] = key;
    if (call.is_once) headers['Idempotency-Key'] = call.idempotencyKey ?? randomName();
    const is_safe = call.is_once === true || !['POST', 'PATCH'].includes(method);
    // A browser looks after its own, and tells nobody where it is led.
    const redirect = hasXhr() ? 'follow' : 'manual';
    const { bodyOf = () => jsonBodyOf(call.body), is_replayable = true } = delivery;
    for (let tried = 1; ; tried += 1) {
      const { headers: of_body, ...body } = bodyOf();
      const init: Sent = { method, redirect, headers: { ...of_body, ...headers }, ...body };
      if (signal) init.signal = signal;
      try {
        return await answerTo(address, init, { ...delivery, send: delivery.send ?? send });
      } catch (error) {
        if (!(error instanceof SatchelError)) throw error;
        const broken_by = delivery.brokenBy?.();
        if (error.status === 0 && broken_by !== undefined) throw broken_by;
        if (!is_replayable || tried >= Math.min(tries, MAX_TRIES)) throw error;
        const wait_ms = waitBefore(error, { tried, is_safe });
        if (wait_ms === null) throw error;
        await rest(wait_ms, signal);
      }
    }
  }

  const json = <T>(method: string, endpoint: string, call: Call): Promise<T> =>
    request(method, endpoint, call, { read: readJson<T> });
  return {
    json,
    /** The `data` of an answer that has nothing else to say. */
    data: async <T>(method: string, endpoint: string, call: Call): Promise<T> =>
      (await json<{ data: T }>(method, endpoint, call)).data,
    text: (method: string, endpoint: string, call: Call): Promise<string> =>
      request(method, endpoint, call, { read: (response) => response.text() }),
    /** The answer itself, whose body may be read as it comes. */
    response: (method: string, endpoint: string, call: Call): Promise<Response> =>
      request(method, endpoint, call, {
        read: (response) => follow(response, call, { base, send }),
        is_raw: true,
      }),
    list: <T, P extends Page<T>>(method: string, endpoint: string, call: Call): List<T, P> => {
      const page = (number: number): Promise<P> =>
        json(method, endpoint, { ...call, query: { ...call.query, page: number } });
      const first = json<P>(method, endpoint, call);
      const iterate = async function* (): AsyncGenerator<T> {
        for (let at = await first, asked = 0; ; at = await page(asked)) {
          for (const item of at.data) yield item;
          const { next_page } = at.meta;
          // Pages only go on: what answers otherwise would have this go round for ever.
          if (next_page === null || next_page <= asked) return;
          asked = next_page;
        }
      };
      return Object.assign(first, { [Symbol.asyncIterator]: iterate });
    },
    upload: async <T>(
      method: string,
      endpoint: string,
      { field, ...call }: Call & { field: string },
      source: UploadSource,
      { signal, headers = {}, idempotencyKey, filename, onProgress, ...fields }: UploadOptions,
    ): Promise<T> => {
      const file = await fileOf(source, { field, filename, fields });
      const told: Call = { ...call, headers };
      if (signal) told.signal = signal;
      if (idempotencyKey !== undefined) told.idempotencyKey = idempotencyKey;
      return request(method, endpoint, told, { read: readJson<T>, ...deliveryOf(file, onProgress) });
    },
  };
}

function jsonBodyOf(body: unknown): { body?: string | FormData; headers?: Record<string, string> } {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}

/** One try. Throws SatchelError, or the signal's reason. */
async function answerTo<T>(
  address: string,
  init: Sent,
  { send, read, is_raw = false }: Delivery<T> & { send: Sender },
): Promise<T> {
  const { signal } = init;
  signal?.throwIfAborted();
  try {
    const response = await send(address, init);
    const is_answer = response.ok || (is_raw && (response.status === 304 || isElsewhere(response)));
    if (!is_answer) throw await failureOf(response);
    return await read(response);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof SatchelError) throw cause;
    throw new SatchelError(0, { code: 'unanswered', message: 'Satchel did not answer.' }, { cause });
  }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  const value = parse(text);
  if (value === undefined && response.status !== 204)
    throw new SatchelError(response.status, {
      code: 'not_json',
      message: 'The answer is no JSON. Is url the address of a Satchel?',
    });
  // The type that the OpenAPI document of the endpoint gives it.
  return value as T;
}

/** Null where the request must not, or had better not, be sent again. */
function waitBefore(
  error: SatchelError,
  { tried, is_safe }: { tried: number; is_safe: boolean },
): number | null {
  const { status, retryAfter } = error;
  // Who is over a limit was refused before anything was done; of the rest nobody knows.
  if (status !== 429 && !(is_safe && (status === 503 || isUnanswered(error)))) return null;
  if (retryAfter !== null) return retryAfter > MAX_WAIT_S ? null : retryAfter * 1000 + Math.random() * 250;
  return BACKOFF_MS * 2 ** (tried - 1) * (0.5 + Math.random() / 2);
}

function rest(wait_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, wait_ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

/* --- Answers that are elsewhere ------------------------------------------------------------------------------- */

function isElsewhere({ status }: Response): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** A stored file may be in an object store, which gets no header of ours but the range, and so no key. */
async function follow(
  response: Response,
  { headers = {}, signal }: Call,
  { base, send }: { base: string; send: Sender },
): Promise<Response> {
  const location = response.headers.get('location');
  if (!isElsewhere(response) || location === null) return response;
  // Bun's fetch opens files of this machine, too.
  if (!URL.canParse(location, base) || !/^https?:$/.test(new URL(location, base).protocol))
    throw await failureOf(response);
  const range = Object.entries(headers).find(([name]) => name.toLowerCase() === 'range')?.[1];
  const init: Sent = { method: 'GET', redirect: 'follow', headers: range ? { Range: range } : {} };
  if (signal) init.signal = signal;
  const found = await send(new URL(location, base).href, init);
  if (!found.ok) throw await failureOf(found);
  return found;
}

/* --- Lists ---------------------------------------------------------------------------------------------------- */

interface Page<T> {
  data: readonly T[];
  meta: { next_page: number | null };
}

/**
 * `await` gives one page with its `meta`. `for await` gives every item from that page on, with `per_page:
 * 50`. Pages count from the newest: items that are added meanwhile do not come, and the last item of a page
 * may come twice.
 */
export type List<T, P extends Page<T>> = Promise<P> & AsyncIterable<T>;
