/** What a message that came whole says of itself, and what is added to it. */
import { decodeWords } from 'postal-mime';
import { MAX_DISPLAY_NAME_CHARS, MAX_SUBJECT_CHARS } from '../limits.ts';
import { oneLine } from '../platform/mail/address.ts';
import { BrokenMessage, type Field, fieldValue, soleAddress } from './header-section.ts';

/** Encoded words take several times what they say. */
const CHARS_DECODED = 8 * MAX_SUBJECT_CHARS;

/** The headers that a message must have and this one lacks (RFC 5322, 3.6; RFC 6409, 8). */
export function missingFields(
  fields: readonly Field[],
  { id, now_ms }: { id: string; now_ms: number },
): string {
  const has = (name: string): boolean => fields.some((field) => field.name === name);
  const date = new Date(now_ms).toUTCString().replace('GMT', '+0000');
  return `${has('date') ? '' : `Date: ${date}\r\n`}${has('message-id') ? '' : `Message-ID: ${madeId(fields, id)}\r\n`}`;
}

function madeId(fields: readonly Field[], id: string): string {
  const from = soleAddress(fieldValue(fields, 'from') ?? '')?.address ?? 'nobody@localhost';
  return `<${id.toLowerCase()}${from.slice(from.lastIndexOf('@'))}>`;
}

/** What its fields say. Throws BrokenMessage without a From. */
export function factsOf(fields: readonly Field[], id: string) {
  const from = fieldValue(fields, 'from');
  if (from === null) throw new BrokenMessage('it has no From field');
  const sender = soleAddress(from);
  return {
    from_email: sender?.address ?? null,
    from_name: shown(sender?.name ?? '', MAX_DISPLAY_NAME_CHARS) || null,
    reply_to: soleAddress(fieldValue(fields, 'reply-to') ?? '')?.address ?? null,
    subject: shown(fieldValue(fields, 'subject') ?? '', MAX_SUBJECT_CHARS),
    message_id: fieldValue(fields, 'message-id') || madeId(fields, id),
  };
}

/** As a reader sees it, on one line, cut. */
function shown(value: string, most_chars: number): string {
  const text = oneLine(decodeWords(value.slice(0, CHARS_DECODED)));
  return [...text].slice(0, most_chars).join('');
}
