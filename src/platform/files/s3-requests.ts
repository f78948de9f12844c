/**
 * Requests to an S3 store: signed, with deadlines, retried where that may help, bounded in number. A failure
 * is a StoreFault, which is AppError `unavailable` to whoever asked.
 */
import { connect } from 'node:net';
import { AwsV4Signer } from 'aws4fetch';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { STORE_RETRY_AFTER_S } from '../../limits.ts';
import type { S3Place, S3Settings } from '../../store-place.ts';
import { monotonicMs } from '../host/clock.ts';
import { isUntrusted, TRUST_REMEDY } from '../http/hosts.ts';
import { Slots } from './s3-slots.ts';
import { type Refusal, readXml, refusalOf, type StoreXml } from './s3-xml.ts';

/** Decision: deadlines of a request to the store: to connect, until the answer begins, and between bytes. */
const STORE_CONNECT_TIMEOUT_MS = 5_000;
const STORE_FIRST_BYTE_TIMEOUT_MS = 15_000;
const STORE_IDLE_TIMEOUT_MS = 30_000;
/** Decision: tries at a busy or broken store before the caller gets 503. */
const STORE_TRIES = 3;
const STORE_PATIENCE_MS = 10_000;
/** Decision: requests to the store at once. */
const STORE_MAX_REQUESTS = 64;

/** The most that is read of an XML answer: a page of 1,000 keys of 1,024 bytes, escaped, is below 8 MiB. */
export const STORE_MAX_XML_BYTES = 8 * 1024 * 1024;
export const STORE_MAX_ERROR_BYTES = 64 * 1024;
/** A body goes out in pieces, so that a store that takes none any more is noticed. */
const SENT_PIECE_BYTES = 64 * 1024;
/** Without an answer for so long a new connection may be due, which then is tried by itself first. */
const CONNECTED_FOR_MS = 10_000;
/** The longest pause before a second try, and before a third. */
const PAUSES_MS = [400, 1_600];
/** An answer that is no object comes at once. */
const ANSWER_TIMEOUT_MS = 60_000;
const NO_XML = Promise.resolve({ root: '', texts: new Map<string, string>(), records: [] });
/** What a store is told by 403 when our clock, or its own, is off. */
const SKEWED = 'RequestTimeTooSkewed';

export interface StoreRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Empty for the bucket. */
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** How long the answer may take to begin, where that is not the usual. */
  first_byte_ms?: number;
  /** How long after its beginning it may be tried again, where that is not the usual. */
  patience_ms?: number;
}

/** An answer that is no failure: 2xx, or 404 for what is not there. */
export interface StoreAnswer {
  status: number;
  headers: Headers;
  /** The whole body of what is no object. Throws StoreFault where it is longer than STORE_MAX_ERROR_BYTES. */
  text(): Promise<string>;
  /** The body as XML. Throws StoreFault where it is none, or longer than STORE_MAX_XML_BYTES. */
  xml(): Promise<StoreXml>;
  /** The body as it comes. Who gives it up must cancel it. */
  stream(): ReadableStream<Uint8Array>;
}

/** The store is away, asks to wait, or refuses; `reason` says it to an operator. */
export class StoreFault extends AppError {
  readonly reason: string;
  /** The store's own name for it. */
  readonly refusal: string | null;

  constructor(reason: string, refusal: string | null = null) {
    super('unavailable', 'The file store cannot be reached at present, or refuses. Try again later.', {
      retry_after_s: STORE_RETRY_AFTER_S,
      cause: new Error(reason),
    });
    this.reason = reason;
    this.refusal = refusal;
  }
}

/** A fault that a further try may mend. */
export class PassingFault extends StoreFault {}

export class S3Requests {
  readonly settings: S3Settings;
  readonly #slots = new Slots(STORE_MAX_REQUESTS);
  /** Derived signing keys, a day each. */
  readonly #signing_keys = new Map<string, ArrayBuffer>();
  #answered_ms = Number.NEGATIVE_INFINITY;
  #ahead_ms: number | null = null;

  constructor(
    settings: S3Settings,
    private readonly now: () => number,
  ) {
    this.settings = settings;
  }

  /** By how much the store's clock was ahead of ours when it last answered. */
  get ahead_ms(): number | null {
    return this.#ahead_ms;
  }

  /** The answer to a request. Throws StoreFault. */
  async send(request: StoreRequest): Promise<StoreAnswer> {
    const leave = await this.#slots.take(STORE_PATIENCE_MS);
    if (!leave) throw new StoreFault(`${STORE_MAX_REQUESTS} requests to the store are under way`);
    const ends_ms = monotonicMs() + (request.patience_ms ?? STORE_PATIENCE_MS);
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          return await this.#try(request, leave);
        } catch (error) {
          const pause_ms = (PAUSES_MS[tries - 1] ?? 0) * (0.5 + Math.random() / 2);
          const may_try = tries < STORE_TRIES && monotonicMs() + pause_ms < ends_ms;
          if (!(error instanceof PassingFault) || !may_try) throw error;
          await Bun.sleep(pause_ms);
        }
      }
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** A link by which anybody fetches a key for so long, with headers of our choice. */
  async link(
    key: string,
    { expires_s, headers }: { expires_s: number; headers: Record<string, string> },
  ): Promise<string> {
    const url = addressOf(this.settings, this.settings.public_endpoint, key);
    for (const [name, value] of Object.entries(headers)) url.searchParams.set(`response-${name}`, value);
    url.searchParams.set('X-Amz-Expires', String(expires_s));
    const signed = await this.#signer({ url: url.href, method: 'GET', signQuery: true }).sign();
    return signed.url.href;
  }

  async #try(request: StoreRequest, leave: () => void): Promise<StoreAnswer> {
    const watch = new Watch();
    try {
      await this.#connect();
      const response = await this.#fetch(request, watch);
      this.#answered_ms = monotonicMs();
      this.#noteClock(response.headers);
      const { status, headers } = response;
      if (response.ok) {
        const body = readWatched(response, watch, leave);
        return { status, headers, stream: () => body, text: () => textOf(body), xml: () => xmlOf(body) };
      }
      const refused = firstOf(
        readWatched(response, watch, () => {}),
        STORE_MAX_ERROR_BYTES,
      );
      const refusal = refusalOf((await readXml(refused)).xml);
      if (status !== 404 || !isMissing(refusal, request.method)) throw faultOf(status, refusal);
      leave();
      return {
        status,
        headers,
        stream: () => new Blob([]).stream(),
        text: async () => '',
        xml: () => NO_XML,
      };
    } catch (error) {
      watch.end();
      if (error instanceof StoreFault) throw error;
      throw new PassingFault(watch.ran_out ?? breakOf(error));
    }
  }

  async #fetch(request: StoreRequest, watch: Watch): Promise<Response> {
    const { method, key, query = {}, body } = request;
    const url = addressOf(this.settings, this.settings.endpoint, key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers: Record<string, string> = {
      ...request.headers,
      // Signed with the rest: the store compares it with what arrives.
      'X-Amz-Content-Sha256': await sha256Of(body ?? new Uint8Array()),
    };
    const signed = await this.#signer({ url: url.href, method, headers }).sign();
    // Without it the runtime asks for compressed answers. Unsigned, as proxies on the way change it.
    signed.headers.set('Accept-Encoding', 'identity');
    const first_byte_ms = request.first_byte_ms ?? STORE_FIRST_BYTE_TIMEOUT_MS;
    const init = {
      method,
      headers: signed.headers,
      signal: watch.signal,
      redirect: 'manual' as const,
      // What is compressed even so is as long as it says.
      decompress: false,
    };
    if (!body || body.byteLength === 0) {
      if (body) signed.headers.set('Content-Length', '0');
      watch.within(first_byte_ms, 'no answer');
      return fetch(signed.url, init);
    }
    // With the length given, the runtime sends a stream as it is pulled, and in no chunks.
    signed.headers.set('Content-Length', String(body.byteLength));
    const stream = piecesOf(body, (is_last) => {
      if (is_last) watch.within(Math.max(first_byte_ms, STORE_IDLE_TIMEOUT_MS), 'no answer');
      else watch.within(STORE_IDLE_TIMEOUT_MS, 'nothing was taken');
    });
    return fetch(signed.url, { ...init, body: stream });
  }

  #signer(options: { url: string; method: string; headers?: Record<string, string>; signQuery?: boolean }) {
    const { access_key_id, secret_access_key, region } = this.settings;
    return new AwsV4Signer({
      ...options,
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      region,
      service: 's3',
      cache: this.#signing_keys,
      datetime: new Date(this.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
  }

  /** Finds out sooner that a store is unreachable than that it is slow: `fetch` does not tell them apart. */
  async #connect(): Promise<void> {
    if (monotonicMs() - this.#answered_ms < CONNECTED_FOR_MS) return;
    const { hostname, port, protocol } = addressOf(this.settings, this.settings.endpoint, '');
    const host = hostname.replace(/^\[|\]$/g, '');
    const is_reached = await reaches(host, Number(port) || (protocol === 'https:' ? 443 : 80));
    if (!is_reached) throw new PassingFault(`no connection in ${STORE_CONNECT_TIMEOUT_MS / 1000} s`);
  }

  #noteClock(headers: Headers): void {
    const theirs_ms = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(theirs_ms)) this.#ahead_ms = theirs_ms - this.now();
  }
}

/** Ends a request that does not go on. */
class Watch {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why it was ended. */
  ran_out: string | null = null;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the request unless there is another call within so long. */
  within(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.ran_out = `${what} for ${ms / 1000} s`;
      this.#controller.abort();
    }, ms);
  }

  rest(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.rest();
    this.#controller.abort();
  }
}

/** The bytes of an answer, with a deadline for each piece. Leaves the store when they end or are given up. */
function readWatched(response: Response, watch: Watch, leave: () => void): ReadableStream<Uint8Array> {
  watch.rest();
  const reader = response.body?.getReader();
  const end = (): void => {
    watch.end();
    leave();
  };
  if (!reader) end();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watch.within(STORE_IDLE_TIMEOUT_MS, 'no byte');
        try {
          const { done, value } = reader ? await reader.read() : { done: true, value: undefined };
          watch.rest();
          if (value) controller.enqueue(value);
          if (!done) return;
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(new PassingFault(watch.ran_out ?? breakOf(error)));
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** The body up to so many bytes; the rest of it is given up. */
async function* firstOf(body: ReadableStream<Uint8Array>, max_bytes: number): AsyncGenerator<Uint8Array> {
  let left = max_bytes;
  for await (const chunk of body) {
    if (left > 0) yield chunk.subarray(0, left);
    left -= chunk.byteLength;
    if (left < 0) return;
  }
}

/** The body, which must be no longer than this, and come in this time. */
async function* wholeOf(body: ReadableStream<Uint8Array>, max_bytes: number): AsyncGenerator<Uint8Array> {
  const ends_ms = monotonicMs() + ANSWER_TIMEOUT_MS;
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > max_bytes) throw new StoreFault(`the store answers more than ${max_bytes / 1024} KiB`);
    if (monotonicMs() > ends_ms)
      throw new PassingFault(`the store takes more than ${ANSWER_TIMEOUT_MS / 1000} s for one answer`);
    yield chunk;
  }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of wholeOf(body, STORE_MAX_ERROR_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function xmlOf(body: ReadableStream<Uint8Array>): Promise<StoreXml> {
  const { xml, flaw } = await readXml(wholeOf(body, STORE_MAX_XML_BYTES));
  if (flaw !== null) throw new StoreFault(`the store's answer can't be read: ${flaw}`);
  return xml;
}

/** Bytes in pieces; `onPiece` is called as each is asked for. */
function piecesOf(bytes: Uint8Array, onPiece: (is_last: boolean) => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = bytes.subarray(at, at + SENT_PIECE_BYTES);
        at += piece.byteLength;
        const is_last = at === bytes.byteLength;
        onPiece(is_last);
        controller.enqueue(piece);
        if (is_last) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const { buffer, byteOffset, byteLength } = bytes;
  const view = buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : bytes.slice();
  // In another thread: a part takes some 10 ms.
  return Buffer.from(await crypto.subtle.digest('SHA-256', view)).toString('hex');
}

/** The runtime's own words for it are long, and ask whether the computer is online. */
function breakOf(error: unknown): string {
  const code = errorCodeOf(error);
  if (code === null) return messageOf(error);
  return isUntrusted(code)
    ? `no authority that this machine trusts signed its certificate (${code}): ${TRUST_REMEDY}`
    : `the connection failed (${code})`;
}

/** Whether a connection comes about in time. One that fails at once is for `fetch` to tell of. */
function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (is_reached: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is_reached);
    };
    const timer = setTimeout(() => end(false), STORE_CONNECT_TIMEOUT_MS);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(true));
  });
}

/** A HEAD is answered without a code; anything else without one comes from no store. */
function isMissing({ code }: Refusal, method: string): boolean {
  return code === null ? method === 'HEAD' : code === 'NoSuchKey' || code === 'NoSuchUpload';
}

/** A store that is busy or broken may do better soon; what it refuses, it refuses again. */
function faultOf(status: number, { code, message }: Refusal): StoreFault {
  const is_passing = status >= 500 || status === 429 || code === 'SlowDown' || code === 'RequestTimeout';
  const words = [code ?? `status ${status}`, message].filter((each) => each !== null).join(': ');
  const hint = code === SKEWED ? ' (the clock of this machine or of the store is off)' : '';
  const reason = `${words.slice(0, 300)}${hint}`;
  return is_passing ? new PassingFault(reason, code) : new StoreFault(reason, code);
}

/** The address of a key, or of the bucket; `base` is one of the place's endpoints. */
function addressOf(place: S3Place, base: string, key: string): URL {
  const url = new URL(base);
  if (!place.is_path_style) url.hostname = `${place.bucket}.${url.hostname}`;
  const folder = url.pathname.replace(/\/+$/, '');
  url.pathname = `${folder}${place.is_path_style ? `/${place.bucket}` : ''}/${key}`;
  return url;
}
