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
    const pieces: Buffer[] = [];
    let from = 0;
    for (let at = this.#nextLine(data, 0); at < data.length; at = this.#nextLine(data, at)) {
      if (data[at] !== DOT) {
        this.#crlf = 0;
        continue;
      }
      const behind = data[at + 1];
      const is_open = behind === undefined || (behind === CR && data[at + 2] === undefined);
      if (is_open) {
        this.#held = data.subarray(at);
        this.#emit([...pieces, data.subarray(from, at)], done);
        return;
      }
      pieces.push(data.subarray(from, at));
      if (behind === CR && data[at + 2] === LF) {
        const content = Buffer.concat(pieces);
        this._countDataBytes(content.length);
        this._endDataMode(content, data.subarray(at + 3), done);
        return;
      }
      from = at + 1;
      this.#crlf = 0;
    }
    this.#emit([...pieces, data.subarray(from)], done);
  }

  /** Where the next line begins, from a place on; the end of the data where none does. */
  #nextLine(data: Buffer, at: number): number {
    if (this.#crlf === 2) return at;
    if (this.#crlf === 1 && data[at] === LF) {
      this.#crlf = 2;
      return at + 1;
    }
    const found = data.indexOf('\r\n', at, 'latin1');
    if (found >= 0) {
      this.#crlf = 2;
      return found + 2;
    }
    this.#crlf = data.at(-1) === CR && data.length > at ? 1 : 0;
    return data.length;
  }

  #emit(pieces: Buffer[], done: (error?: Error | null) => void): void {
    const content = Buffer.concat(pieces);
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
