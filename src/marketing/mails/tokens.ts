/**
 * The tokens of a mail's links and picture: which mail, which source, which link, and a keyed hash. Pure
 * functions.
 */
import { type KeyedHash, sameHash } from '../settings/service.ts';

/**
 * What a token says. Position 0 is the mail's own: its picture (below /o/) and its hidden link (below /c/).
 */
export interface LinkName {
  email_id: string;
  source_id: number;
  position: number;
}

/**
 * 64 of the 256 bits of the hash. Each guess is a request, so nobody tries 2^63 of them; and links stay
 * short.
 */
const MAC_CHARS = 16;
/** Lower case only, as some scanners change links to lower case. */
const TOKEN = /^([0-9a-z]{26})([0-9a-z]{1,10})-([0-9a-z]{1,4})-([0-9a-f]{16})$/;

export function linkToken({ email_id, source_id, position }: LinkName, hash: KeyedHash): string {
  const name = `${email_id.toLowerCase()}${source_id.toString(36)}-${position.toString(36)}`;
  return `${name}-${hash(name).slice(0, MAC_CHARS)}`;
}

/**
 * What a token claims to name; null for what is no token. `isTrueLinkToken` says whether this server made it.
 */
export function readLinkToken(token: string): LinkName | null {
  const [, email_id = '', source_id = '', position = ''] = TOKEN.exec(token) ?? [];
  if (email_id === '') return null;
  return {
    email_id: email_id.toUpperCase(),
    source_id: Number.parseInt(source_id, 36),
    position: Number.parseInt(position, 36),
  };
}

export function isTrueLinkToken(token: string, hash: KeyedHash): boolean {
  const end = token.length - MAC_CHARS;
  return sameHash(token.slice(end), hash(token.slice(0, end - 1)).slice(0, MAC_CHARS));
}
