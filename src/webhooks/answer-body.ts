/** What an answer says behind its head, as its bytes come: by its length, in chunks, or up to its end (RFC 9112, 6.3). */

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
  #room = MAX_BODY_BYTES;
  /** Of the body, or of its chunk. */
  #left: number;
  /** As much of the line before the next chunk as has come; null within a chunk. */
  #line: string | null;
  /** It wants no more: it is whole, or as large as it may be, or no body. */
  is_over = false;
  #is_whole = false;

  constructor(status: number, head: string) {
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
