/** A client of tus by hand, for what the libraries never do. */
import { connect } from 'node:net';
import type { Answer, CallOptions, TestApp } from '../../support/helpers.ts';

export const VERSION = { 'Tus-Resumable': '1.0.0' };

/** Upload-Metadata of these values. */
export function metadataOf(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
}

export class Tus {
  readonly #app: TestApp;
  readonly #key: string;

  constructor(app: TestApp, key: string) {
    this.#app = app;
    this.#key = key;
  }

  begin(
    length: number | string,
    fields: Record<string, string> = {},
    more: CallOptions = {},
  ): Promise<Answer> {
    const metadata: Record<string, string> =
      Object.keys(fields).length === 0 ? {} : { 'Upload-Metadata': metadataOf(fields) };
    return this.#call('POST', '/api/v1/uploads', { 'Upload-Length': String(length), ...metadata }, more);
  }

  /** Begins one, and answers its path. */
  async path(length: number, fields: Record<string, string> = {}): Promise<string> {
    const { status, headers, text } = await this.begin(length, fields);
    if (status !== 201) throw new Error(`${status} ${text}`);
    return headers.get('location') ?? '';
  }

  send(
    path: string,
    offset: number,
    body: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const usual = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' };
    return this.#call('PATCH', path, { ...usual, ...headers }, { body });
  }

  look(path: string, more: CallOptions = {}): Promise<Answer> {
    return this.#call('HEAD', path, {}, more);
  }

  end(path: string, more: CallOptions = {}): Promise<Answer> {
    return this.#call('DELETE', path, {}, more);
  }

  /** The offset that HEAD tells. */
  async offset(path: string): Promise<number> {
    const { status, headers } = await this.look(path);
    if (status !== 200) throw new Error(`HEAD answers ${status}`);
    return Number(headers.get('upload-offset'));
  }

  /** A PATCH over a connection of its own, whose bytes come when the test says so. */
  async open(
    path: string,
    offset: number,
    length: number,
    more: Record<string, string> = {},
  ): Promise<SlowPart> {
    const { hostname, port, host } = new URL(this.#app.url);
    const headers = {
      ...{ Host: host, 'X-API-Key': this.#key, 'Content-Length': String(length), ...VERSION },
      ...{ 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream', ...more },
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    const answered = new Promise<string>((resolve) => {
      socket.on('data', (bytes) => {
        answer += String(bytes);
        if (answer.includes('\r\n\r\n')) resolve(answer);
      });
      void closed.then(() => resolve(answer));
    });
    await new Promise<void>((resolve) => socket.on('connect', () => resolve()));
    socket.write(`PATCH ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return {
      write: (bytes) => void socket.write(bytes),
      breakOff: () => void socket.destroy(),
      status: async () => Number(/^HTTP\/1.1 (\d+)/.exec(await answered)?.[1] ?? 0),
    };
  }

  #call(method: string, path: string, headers: Record<string, string>, more: CallOptions): Promise<Answer> {
    return this.#app.call(method, path, {
      ...{ key: this.#key, ...more },
      headers: { ...VERSION, ...headers, ...more.headers },
    });
  }
}

interface SlowPart {
  write(bytes: string | Uint8Array): void;
  breakOff(): void;
  /** Of the answer; 0 where the connection ended without one. */
  status(): Promise<number>;
}
