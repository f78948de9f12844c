/**
 * One request over a connection of its own to a given address, and its answer. Receivers are strangers: the
 * head alone decides, up to MAX_HEAD_BYTES, and of what is behind it a little is kept to look at.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { monotonicMs, SECOND_MS } from '../host/clock.ts';
import { isUntrusted, TRUST_REMEDY } from './hosts.ts';

/** What is sent, and where to. */
export interface Outgoing {
  address: string;
  port: number;
  /** The name that the certificate is checked against; null without TLS. */
  certified_name: string | null;
  /** The whole request, head and body. */
  message: string;
  timeout_ms: number;
  /** Where the body of the answer is wanted whole, within `timeout_ms` too: what it may have at most. */
  whole_bytes?: number;
  /** Authorities besides the system's; for tests. */
  ca?: string | undefined;
}

export type Answer =
  | {
      status: number;
      said: Said;
      /** How long what is behind its head took. */
      behind_ms: number;
    }
  | {
      failure: string;
      /** No connection came about, so that another address may do. */
      is_unreached: boolean;
      /** This machine could not even try. */
      is_ours: boolean;
    };

const MAX_HEAD_BYTES = 16 * 1024;
/** So long after the head of an answer its body may come. */
const MAX_BODY_MS = SECOND_MS;

/** Sends it and resolves with the answer: its head within `timeout_ms`, whatever happens. */
export async function exchange(outgoing: Outgoing): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const { whole_bytes } = outgoing;
  const ends_ms = monotonicMs() + outgoing.timeout_ms;
  let is_connected = false;
  let head = '';
  let answered: { status: number; body: AnswerBody; at_ms: number } | null = null;
  const end = (answer: Answer): void => {
    clearTimeout(timer);
    resolve(answer);
    socket.destroy();
  };
  const fail = (failure: string, is_ours = false): void =>
    end({ failure, is_unreached: !is_connected, is_ours });
  /** Once its head is there, nothing else can change what an answer means. */
  const endAs = (failure: () => void, has_ended = false): void => {
    if (!answered) {
      failure();
      return;
    }
    const { status, body, at_ms } = answered;
    end({ status, said: body.close({ has_ended }), behind_ms: monotonicMs() - at_ms });
  };
  const timeUp = (): void =>
    endAs(() => fail(`no answer within ${Math.round(outgoing.timeout_ms / 1_000)} s`));
  let timer = setTimeout(timeUp, outgoing.timeout_ms);
  const begin = ({ status, own, behind }: NonNullable<ReturnType<typeof finalHeadOf>>): void => {
    const at_ms = monotonicMs();
    answered = { status, body: new AnswerBody(status, own, whole_bytes), at_ms };
    clearTimeout(timer);
    timer = setTimeout(timeUp, whole_bytes === undefined ? MAX_BODY_MS : ends_ms - at_ms);
    read(answered.body, Buffer.from(behind, 'latin1'));
  };
  const read = (body: AnswerBody, bytes: Buffer): void => {
    body.push(bytes);
    if (body.is_over) endAs(() => {});
  };
  const socket = open(outgoing, () => {
    is_connected = true;
    socket.write(outgoing.message);
  });
  socket.on('data', (chunk: Buffer) => {
    if (answered) return read(answered.body, chunk);
    head += chunk.toString('latin1');
    const final = finalHeadOf(head);
    if (final) begin(final);
    else if (!isHead(head)) fail('it answered with what is no HTTP');
    else if (head.length > MAX_HEAD_BYTES)
      fail(`the head of its answer is larger than ${MAX_HEAD_BYTES} bytes`);
  });
  socket.on('error', (error) => {
    const code = 'code' in error ? String(error.code) : '';
    endAs(() => fail(wordsFor(code), code === 'EMFILE' || code === 'ENFILE'));
  });
  socket.on('close', () => endAs(() => fail('the connection was closed without an answer'), true));
  return promise;
}

function open({ address, port, certified_name, ca }: Outgoing, onConnected: () => void): Socket {
  if (certified_name === null) return connectPlain({ host: address, port }, onConnected);
  // An address as a name is checked against the certificate, and is none to ask for (RFC 6066, 3).
  const named = certified_name === address ? {} : { servername: certified_name };
  const options = { host: address, port, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...named };
  return connectTls({ ...options, ...(ca === undefined ? {} : { ca }) }, onConnected);
}

function isHead(head: string): boolean {
  return 'HTTP/1.'.startsWith(head.slice(0, 7));
}

/**
 * The status of an answer whose head is complete, that head, and what is behind it, passing over those in
 * between (1xx); else null.
 */
function finalHeadOf(head: string): { status: number; own: string; behind: string } | null {
  for (let start = 0; ; ) {
    const end = head.indexOf('\r\n\r\n', start);
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(head.slice(start, start + 14))?.[1]);
    if (end < 0 || Number.isNaN(status)) return null;
    if (status >= 200) return { status, own: head.slice(start, end), behind: head.slice(end + 4) };
    start = end + 4;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ENETUNREACH: 'its network could not be reached',
  EHOSTUNREACH: 'its machine could not be reached',
  ETIMEDOUT: 'the connection timed out',
  EMFILE: 'the server has too few file descriptors left',
  ENFILE: 'the server has too few file descriptors left',
};

function wordsFor(code: string): string {
  if (isUntrusted(code))
    return `TLS failed (${code}): no authority that this machine trusts signed its certificate; ${TRUST_REMEDY}`;
  const is_of_certificate = /CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code);
  return WORDS[code] ?? (is_of_certificate ? `TLS failed (${code})` : 'the connection failed');
}

/** So much of it is kept. */
export const MAX_BODY_BYTES = 64 * 1024;
/** Of the line that tells a chunk's size, with what else may stand there. */
const MAX_LINE_CHARS = 1024;
const MAX_TYPE_CHARS = 255;

/** What is kept of it. */
export interface Said {
  content_type: string | null;
  body: string;
  /** There was more, or there may have been. */
  is_cut: boolean;
}

export class AnswerBody {
  readonly #content_type: string | null;
  readonly #kept: Buffer[] = [];
  readonly #is_chunked: boolean;
  #room: number;
  /** Of the body, or of its chunk. */
  #left: number;
  /** As much of the line before the next chunk as has come; null within a chunk. */
  #line: string | null;
  /** It wants no more: it is whole, or as large as it may be, or no body. */
  is_over = false;
  #is_whole = false;

  constructor(status: number, head: string, max_bytes = MAX_BODY_BYTES) {
    this.#room = max_bytes;
    const header = (name: string): string | null =>
      new RegExp(`^${name}:(.*)$`, 'im').exec(head)?.[1]?.trim() ?? null;
    this.#content_type = header('content-type')?.slice(0, MAX_TYPE_CHARS) ?? null;
    this.#is_chunked = /(?:^|,)\s*chunked$/i.test(header('transfer-encoding') ?? '');
    this.#line = this.#is_chunked ? '' : null;
    const length = header('content-length');
    this.#left = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
    const has_none = status === 204 || status === 304 || (!this.#is_chunked && this.#left === 0);
    if (has_none) this.#end(true);
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.is_over; )
      at += this.#line === null ? this.#take(bytes.subarray(at)) : this.#readLine(bytes.subarray(at));
  }

  /** What there is, as nothing more is read; `has_ended`: as the other side has said so. */
  close({ has_ended }: { has_ended: boolean }): Said {
    const may_be_whole = has_ended && this.#left === Number.POSITIVE_INFINITY && !this.#is_chunked;
    const is_whole = this.is_over ? this.#is_whole : may_be_whole;
    // What a cut leaves of a character is left out.
    const body = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: !is_whole });
    return { content_type: this.#content_type, body, is_cut: !is_whole };
  }

  #end(is_whole: boolean): void {
    this.is_over = true;
    this.#is_whole = is_whole;
  }

  #take(bytes: Buffer): number {
    const some = bytes.subarray(0, Math.min(this.#left, this.#room));
    this.#kept.push(some);
    this.#left -= some.length;
    this.#room -= some.length;
    if (this.#left === 0 && this.#is_chunked) this.#line = '';
    else if (this.#left === 0) this.#end(true);
    if (this.#room === 0 && some.length < bytes.length && this.#left > 0) this.#end(false);
    return some.length;
  }

  #readLine(bytes: Buffer): number {
    const end = bytes.indexOf('\n');
    const part = end < 0 ? bytes : bytes.subarray(0, end + 1);
    this.#line += part.toString('latin1');
    const line = this.#line ?? '';
    if (line.length > MAX_LINE_CHARS) this.#end(false);
    else if (line.endsWith('\n')) this.#begin(line.trim());
    return part.length;
  }

  /** A line is there: the end of a chunk, or the size of the next one. */
  #begin(line: string): void {
    this.#line = '';
    if (line === '') return;
    const size = Number.parseInt(/^[\da-f]{1,8}(?=$|[;\s])/i.exec(line)?.[0] ?? '', 16);
    if (size > 0) {
      this.#left = size;
      this.#line = null;
    } else this.#end(size === 0);
  }
}
