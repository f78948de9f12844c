/** The frame of a source: what the bodies of its mails share. The mailer composes it once. Pure functions. */
import { invalid } from '../../errors.ts';
import { type FramedBodies, fillFrame, type MailFrame } from '../../platform/mail/types.ts';
import { refusalOfSize } from './merging.ts';
import type { Part, Source } from './source.ts';

/** An apostrophe or a quotation mark is six bytes in HTML, and no unit of a text is more than that. */
const MOST_BYTES_OF_UNIT = 6;

/** A source, and what is made of it once for all its mails. */
export interface FramedSource {
  source: Source;
  frame: MailFrame;
  /** What each of a mail's values is of: a merge field, or the position of a link. */
  holes: readonly Exclude<Part, string>[];
  /** What its larger body has without any value. */
  bytes: number;
  /** How often each value stands in both. */
  uses: readonly number[];
}

export function frameSource(source: Source, key: string): FramedSource {
  const holes: Exclude<Part, string>[] = [];
  const uses: number[] = [];
  const numbers = new Map<string, number>();
  const frameParts = (parts: readonly Part[]): (string | number)[] =>
    parts.map((part) => {
      if (typeof part === 'string') return part;
      const name = JSON.stringify(part);
      const number = numbers.get(name) ?? holes.push(part) - 1;
      numbers.set(name, number);
      uses[number] = (uses[number] ?? 0) + 1;
      return number;
    });
  const frame = {
    key,
    html: source.html && frameParts(source.html),
    text: source.text && frameParts(source.text),
  };
  const bytes = Math.max(bytesOf(source.html ?? []), bytesOf(source.text ?? []));
  return { source, frame, holes, bytes, uses };
}

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : 0),
    0,
  );
}

/** The size of a mail's larger body, or more; without filling it in. */
export function mostBytesOf({ bytes, uses }: FramedSource, values: readonly string[]): number {
  return values.reduce(
    (sum, value, number) => sum + (uses[number] ?? 0) * value.length * MOST_BYTES_OF_UNIT,
    bytes,
  );
}

/** Throws AppError `invalid` where one of the bodies is larger. */
export function refuseTooLarge(bodies: FramedBodies, max_body_bytes: number): void {
  const { html, text } = fillFrame(bodies);
  for (const [field, body] of Object.entries({ body_html: html, body_text: text }))
    if (body !== null && Buffer.byteLength(body) > max_body_bytes)
      throw invalid({ [field]: [refusalOfSize(max_body_bytes)] });
}
