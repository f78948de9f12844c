/** Email addresses: what Satchel takes as one, their canonical form, texts beside them in a header, and what is held about one. */

import { domainToASCII, domainToUnicode } from 'node:url';
import { MAX_ADDRESS_CHARS, MAX_LOCAL_PART_CHARS } from '../../limits.ts';
import type { Tx } from '../database/database.ts';

interface EmailAddress {
  /** `local@domain` with the domain in lower-case ASCII; the local part as given. */
  address: string;
  domain: string;
}

/**
 * RFC 5322 dot-atom. Quoted local parts are legal, unused, and a trap in logs and headers. A percent sign
 * once routed mail through a relay, and some still do that.
 */
const LOCAL = /^[a-z0-9!#$&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$&'*+/=?^_`{|}~-]+)*$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A host name of two labels or more in lower-case ASCII (IDNA), else null. Text that IDNA reads as another
 * name (full-width letters, soft hyphens, percent escapes) is none: whoever wrote or checked it saw a
 * different domain.
 */
export function canonicalDomain(text: string): string | null {
  if (text.length > 253 || /[\s/:@?#[\]\\]/.test(text)) return null;
  const given = text.toLowerCase().split('.');
  const domain = domainToASCII(text.toLowerCase());
  const labels = domain.split('.');
  const is_as_given = labels.every(
    (label, index) => given[index] === label || given[index] === domainToUnicode(label),
  );
  const is_name =
    is_as_given &&
    given.length === labels.length &&
    domain.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label));
  return is_name && !/^\d+$/.test(labels.at(-1) ?? '') ? domain : null;
}

/** The parts of a bare address (no display name, no comments), or null when the text is no address. */
export function parseAddress(text: string): EmailAddress | null {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > MAX_LOCAL_PART_CHARS) return null;
  const local = text.slice(0, at);
  const domain = canonicalDomain(text.slice(at + 1));
  if (domain === null || !LOCAL.test(local)) return null;
  const address = `${local}@${domain}`;
  return address.length <= MAX_ADDRESS_CHARS ? { address, domain } : null;
}

/** One thing that a noun holds about an address. */
export interface HeldThing {
  /** As an export shows it, read now; null where it is gone by now. */
  show(): unknown;
  /** Deletes or empties it; `later` runs once that is on disk. Left out where it goes with the contacts or mails. */
  forget?(tx: Tx, later: (work: () => Promise<void>) => void): void;
}

export interface AddressHolder {
  /** Under what name an export shows it. */
  name: string;
  /**
   * All that it holds, some at a time. Others have their turn in between, so each piece is read anew, takes a few milliseconds and
   * may be empty.
   */
  find(owner: { id: number; public_id: string }, email: string): Iterable<readonly HeldThing[]>;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a text has line breaks or control characters, which could begin another header; tabs are fine. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text);
}

/** The text on one line, without control characters, which files and forms may hold and a header may not. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
