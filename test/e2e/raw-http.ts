/** HTTP over bare sockets: bodies in chosen pieces, cut off, pipelined or malformed, as no client library sends them. */
import { connect, type Socket } from 'node:net';

/** Longest wait for an answer; a server that needs longer hangs. */
const ANSWER_DEADLINE_MS = 60_000;

export interface RawAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body as JSON; empty where it is none. */
  json: Record<string, unknown>;
}

export class RawConnection {
  readonly socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #is_over = false;
  #wake: () => void = () => {};
  readonly #sending = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const end = () => {
      this.#is_over = true;
      this.#wake();
      for (const giveUp of this.#sending) giveUp();
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', () => {}); // A reset is followed by close.
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () =>
        resolve(new RawConnection(socket)),
      );
      socket.once('error', reject);
    });
  }

  get is_over(): boolean {
    return this.#is_over;
  }

  /** What has come and was not taken as an answer. */
  get received(): string {
    return this.#received.toString('latin1');
  }

  /** Resolves when the system has taken the bytes, or the connection is gone. */
  send(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed || !this.socket.writable) return resolve();
      const done = () => {
        this.#sending.delete(done);
        resolve();
      };
      this.#sending.add(done);
      this.socket.write(bytes, done);
    });
  }

  /** The next answer, or null when the connection ends without a complete one. */
  async answer(deadline_ms = ANSWER_DEADLINE_MS): Promise<RawAnswer | null> {
    const give_up_ms = performance.now() + deadline_ms;
    for (;;) {
      const parsed = parseAnswer(this.#received);
      if (parsed) {
        this.#received = parsed.rest;
        return parsed.answer;
      }
      if (this.#is_over) return null;
      const left_ms = give_up_ms - performance.now();
      if (left_ms <= 0) throw new Error('no answer came in time');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left_ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  destroy(): void {
    this.socket.destroy();
  }
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; rest: Buffer } | null {
  const head_end = bytes.indexOf('\r\n\r\n');
  if (head_end < 0) return null;
  const [status_line = '', ...lines] = bytes.subarray(0, head_end).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number(status_line.split(' ')[1]);
  let rest = bytes.subarray(head_end + 4);
  if (status === 100) return parseAnswer(rest);
  let body: Buffer;
  if (headers['transfer-encoding'] === 'chunked') {
    const pieces: Buffer[] = [];
    for (;;) {
      const line_end = rest.indexOf('\r\n');
      if (line_end < 0) return null;
      const size = Number.parseInt(rest.subarray(0, line_end).toString(), 16);
      if (rest.length < line_end + 2 + size + 2) return null;
      pieces.push(rest.subarray(line_end + 2, line_end + 2 + size));
      rest = rest.subarray(line_end + 2 + size + 2);
      if (size === 0) break;
    }
    body = Buffer.concat(pieces);
  } else {
    const size = status === 204 || status === 304 ? 0 : Number(headers['content-length'] ?? 0);
    if (rest.length < size) return null;
    body = rest.subarray(0, size);
    rest = rest.subarray(size);
  }
  let json: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === 'object' && value !== null) json = { ...value };
  } catch {}
  return { answer: { status, headers, body, json }, rest };
}

/** Opens a connection, sends one request head with what follows it, and takes the answer. */
export async function exchange(url: string, ...pieces: (string | Uint8Array)[]): Promise<RawAnswer | null> {
  const connection = await RawConnection.open(url);
  try {
    for (const piece of pieces) await connection.send(piece);
    return await connection.answer();
  } finally {
    connection.destroy();
  }
}

export const BOUNDARY = 'b0undary';

/** The beginning and the end of an upload form around the bytes of its file. */
export const FORM_HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/x-test\r\n\r\n`;
export const FORM_TAIL = `\r\n--${BOUNDARY}--\r\n`;

/** The head of an upload request; `length` null sends the body chunked. */
export function uploadHead(key: string, length: number | null, extra = ''): string {
  const size = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST /api/v1/objects HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\n${size}\r\n${extra}\r\n`;
}

/** One piece of a chunked body. */
export function chunked(bytes: Uint8Array | string): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}
