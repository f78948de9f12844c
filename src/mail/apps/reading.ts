/** What the requests of apps have in common, as they are read in their thread: addresses, header fields, and what is wrong. */
import { decodeWords } from 'postal-mime';
import { AppError } from '../../errors.ts';
import { hasControls, oneLine } from '../../platform/mail/address.ts';
import { soleAddress } from '../header-section.ts';
import type { Party } from './schemas.ts';

/** Decision, as by SMTP: recipients of one message, each of which makes a mail. */
export const MAX_RECIPIENTS = 50;

export const INVALID_ATTACHMENT = 'invalid_attachment';

/** What is wrong with a request; `code` says of which kind, in the words of its dialect. */
export class Unfit extends AppError {
  constructor(code: string, message: string) {
    super('invalid', message, { code });
  }
}

const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+^_`|~-]{1,76}$/;
const WRITTEN_HERE = new Set(
  'from to cc bcc subject reply-to date message-id sender mime-version received return-path'.split(' '),
);

/** Why a message may not have a header field, as the end of a sentence; null where it may. */
export function refusalOfField(name: string, value: string, ...but: readonly string[]): string | null {
  const lower = name.toLowerCase();
  if (!FIELD_NAME.test(name)) return 'is no name of a header field';
  if (!but.includes(lower) && (WRITTEN_HERE.has(lower) || /^(content|dkim|x-satchel)-/.test(lower)))
    return 'is written here';
  return hasControls(value) ? 'must have no line breaks or other control characters' : null;
}

/** More than the longest address with the longest name. */
const PARTY_CHARS = 4_000;

/** `Ann <ann@example.org>`, or the address alone; null for anything else. */
export function partyOf(text: string): Party | null {
  if (text.length > PARTY_CHARS || hasControls(text)) return null;
  const found = soleAddress(text);
  return found && { address: found.address, name: oneLine(decodeWords(found.name)) || null };
}

/** Each address once, however often and in whatever case it stands there. */
export function distinctParties(parties: readonly Party[]): Party[] {
  const by_address = new Map<string, Party>();
  for (const party of parties)
    if (!by_address.has(party.address.toLowerCase())) by_address.set(party.address.toLowerCase(), party);
  return [...by_address.values()];
}
