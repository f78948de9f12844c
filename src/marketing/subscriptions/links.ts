/** The links of public pages: what they look like, and whom an unsubscribe link stands for. */

import { createHash } from 'node:crypto';
import { isUlid } from '../../platform/host/ids.ts';
import { type KeyedHash, sameHash } from '../settings/service.ts';

/** 128 of the 256 bits of the hash: nobody guesses those, and links stay short. */
const MAC_CHARS = 32;

/** What is kept of the token of a confirm link, which only that link may hold: its SHA-256 in hex. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function confirmUrl(public_url: string, token: string): string {
  return `${public_url}/confirm/${token}`;
}

/**
 * The token of a contact's unsubscribe link: the contact, and a keyed hash that only this server can make.
 */
function unsubscribeToken(contact_public_id: string, hash: KeyedHash): string {
  return `${contact_public_id}-${hash(contact_public_id).slice(0, MAC_CHARS)}`;
}

export function unsubscribeUrl(public_url: string, contact_public_id: string, hash: KeyedHash): string {
  return `${public_url}/unsubscribe/${unsubscribeToken(contact_public_id, hash)}`;
}

/** In place of a token in a test of marketing mail: its link shows that it is one, and acts for nobody. */
export const TEST_TOKEN = 'test';

export function testUnsubscribeUrl(public_url: string): string {
  return `${public_url}/unsubscribe/${TEST_TOKEN}`;
}

/** As `testUnsubscribeUrl`, of the link to a mail in a browser: there is none. */
export function testViewUrl(public_url: string): string {
  return `${public_url}/view/${TEST_TOKEN}`;
}

/** The contact that a token claims to be of; null for what is no token. `isTrueToken` says whether it is. */
export function contactOfToken(token: string): string | null {
  const [contact = '', mac, ...more] = token.split('-');
  return isUlid(contact) && mac?.length === MAC_CHARS && more.length === 0 ? contact.toUpperCase() : null;
}

export function isTrueToken(token: string, contact_public_id: string, hash: KeyedHash): boolean {
  return sameHash(token.slice(contact_public_id.length + 1), hash(contact_public_id).slice(0, MAC_CHARS));
}

/**
 * What the page that unsubscribed a contact says when that was, so that it can be taken back there: the moment (ms), and a keyed hash
 * of it and the contact.
 */
export function takingBackValue(contact_public_id: string, left_at: number, hash: KeyedHash): string {
  return `${left_at}-${hash(`${contact_public_id} ${left_at}`).slice(0, MAC_CHARS)}`;
}

/** The moment that such a value of this contact says; null for any that this server did not make. */
export function readTakingBack(value: string, contact_public_id: string, hash: KeyedHash): number | null {
  const [, digits] = /^(\d{1,15})-/.exec(value) ?? [];
  const left_at = Number(digits ?? 0);
  return sameHash(value, takingBackValue(contact_public_id, left_at, hash)) ? left_at : null;
}
