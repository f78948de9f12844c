/**
 * The stream parser of smtp-server with its own reading of DATA in place of the library's, which waits a turn of the event loop at
 * each stuffed dot: 5 MB of them took it 48 s and 360 MB.
 */
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

const DOT = 0x2e;
const CR = 0x0d;
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

export class SubmissionParser extends SMTPStream {
  /** What may yet turn out to be the end: a dot at the beginning of a line, and a CR behind it. */
  #held: Buffer = NOTHING;
  /** How much of a CRLF stands before the next byte: 2 at the beginning of a line. */
  #crlf: 0 | 1 | 2 = 2;

  override startDataMode(max_bytes?: number) {
    this.#held = NOTHING;
    this.#crlf = 2;
    return super.startDataMode(max_bytes);
  }

  /**
   * A line of a dot ends the message where CRLF stands on both sides, and nothing else does; a dot at the beginning of any other
   * line goes (RFC 5321, 4.5.2). A line begins behind CRLF alone.
   */
  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = NOTHING;
    // What stays moves over the dots that go: up to `to` it is content, from `from` on it is yet to be moved.
    let from = 0;
    let to = 0;
    const keepUpTo = (end: number): void => {
      if (to !== from) move(data, { to, from, end });
      to += end - from;
    };
    for (let at = this.#nextLine(data, 0); at < data.length; at = this.#nextLine(data, at)) {
      if (data[at] !== DOT) {
        this.#crlf = 0;
        continue;
      }
      keepUpTo(at);
      const behind = data[at + 1];
      if (behind === undefined || (behind === CR && data[at + 2] === undefined)) {
        this.#held = data.subarray(at);
        this.#emit(data.subarray(0, to), done);
        return;
      }
      if (behind === CR && data[at + 2] === LF) {
        this._countDataBytes(to);
        this._endDataMode(data.subarray(0, to), data.subarray(at + 3), done);
        return;
      }
      from = at + 1;
      this.#crlf = 0;
    }
    keepUpTo(data.length);
    this.#emit(data.subarray(0, to), done);
  }

  /** Where the next line begins, from a place on; the end of the data where none does. */
  #nextLine(data: Buffer, at: number): number {
    if (this.#crlf === 2) return at;
    if (this.#crlf === 1 && data[at] === LF) {
      this.#crlf = 2;
      return at + 1;
    }
    const found = indexOfCrlf(data, at);
    if (found >= 0) {
      this.#crlf = 2;
      return found + 2;
    }
    this.#crlf = data.at(-1) === CR && data.length > at ? 1 : 0;
    return data.length;
  }

  #emit(content: Buffer, done: (error?: Error | null) => void): void {
    const stream = this._dataStream;
    this._countDataBytes(content.length);
    if (content.length === 0 || !stream?.writable || stream.write(content)) {
      done();
      return;
    }
    const onDrain = (): void => {
      stream.off('drain', onDrain).off('close', onDrain);
      done();
    };
    stream.once('drain', onDrain).once('close', onDrain);
  }
}

/** As far away or as long, a call of the library takes longer than to look at some bytes. */
const NEAR_BYTES = 16;

function move(data: Buffer, { to, from, end }: { to: number; from: number; end: number }): void {
  if (end - from > NEAR_BYTES) data.copyWithin(to, from, end);
  else for (let at = from; at < end; at += 1) data[to + at - from] = data[at] ?? 0;
}

function indexOfCrlf(data: Buffer, from: number): number {
  const near = Math.min(from + NEAR_BYTES, data.length - 1);
  for (let at = from; at < near; at += 1) if (data[at] === CR && data[at + 1] === LF) return at;
  return data.indexOf('\r\n', Math.max(from, near), 'latin1');
}
