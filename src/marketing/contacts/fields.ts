/** The fields of a contact: canonical forms, bounds, and messages that say what would be right. */
import { randomBytes } from 'node:crypto';
import type { FieldErrors } from '../../errors.ts';
import {
  MAX_CONTACT_TAGS,
  MAX_CUSTOM_FIELD_NAME_CHARS,
  MAX_CUSTOM_FIELDS,
  MAX_CUSTOM_VALUE_CHARS,
  MAX_TAG_CHARS,
} from '../../limits.ts';
import { countCodePoints } from '../../platform/http/schema.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import type { CustomFields, CustomValue } from './schemas.ts';

/** What a product event may be called. */
export const EVENT_SLUG = /^[a-z0-9][a-z0-9_-]{0,99}$/;
export const NO_EVENT = 'must be the name of an event: lowercase letters, digits, dashes and underscores';
/** What a contact or an import may be said to come from: any lowercase slug. */
export const SOURCE_PLATFORM = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Too many to guess at any rate: 192 random bits. */
const TOKEN_BYTES = 24;

/**
 * A random token that stands for a contact, in links to a list's token_hosts and to public pages. 32
 * characters, base64url.
 */
export function createContactToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The canonical form of an address, in which contacts are compared; null for what is no address. */
export function contactAddress(text: string): { email: string; domain: string } | null {
  const address = parseAddress(text.trim());
  return address ? { email: address.address.toLowerCase(), domain: address.domain } : null;
}

/** Tags without outer spaces, each once, in their order. What does not fit is named under `field`. */
export function readTags(tags: readonly string[], field: string, errors: FieldErrors): string[] {
  const read = new Set<string>();
  tags.forEach((tag, index) => {
    const name = tag.trim();
    const length = countCodePoints(name);
    if (length === 0 || length > MAX_TAG_CHARS)
      errors[`${field}.${index}`] = [`must have 1 to ${MAX_TAG_CHARS} characters (got ${length})`];
    else read.add(name);
  });
  if (read.size > MAX_CONTACT_TAGS) errors[field] = [`at most ${MAX_CONTACT_TAGS} (got ${read.size})`];
  return [...read];
}

/** Custom fields as they are stored: plain values only, null leaves a field out. */
export function readCustom(custom: Readonly<Record<string, unknown>>, errors: FieldErrors): CustomFields {
  const read: Record<string, CustomValue> = {};
  for (const [name, value] of Object.entries(custom)) {
    if (value === null || value === undefined) continue;
    const message = refusalOfCustom(name, value);
    if (message !== null) errors[`custom.${cutName(name)}`] = [message];
    else read[name] = value as CustomValue; // refusalOfCustom has just seen that it is one.
  }
  const count = Object.keys(read).length;
  if (count > MAX_CUSTOM_FIELDS) errors.custom = [`at most ${MAX_CUSTOM_FIELDS} fields (got ${count})`];
  return read;
}

function refusalOfCustom(name: string, value: unknown): string | null {
  if (name.trim() === '' || countCodePoints(name) > MAX_CUSTOM_FIELD_NAME_CHARS)
    return `its name must have 1 to ${MAX_CUSTOM_FIELD_NAME_CHARS} characters`;
  if (typeof value === 'boolean') return null;
  if (typeof value === 'number')
    return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER
      ? null
      : 'must be a number that JSON keeps exactly; send it as a string';
  if (typeof value !== 'string') return 'must be a string, a number, a boolean or null';
  const length = countCodePoints(value);
  return length <= MAX_CUSTOM_VALUE_CHARS
    ? null
    : `must have at most ${MAX_CUSTOM_VALUE_CHARS} characters (got ${length})`;
}

function cutName(name: string): string {
  return [...name].slice(0, MAX_CUSTOM_FIELD_NAME_CHARS).join('');
}
