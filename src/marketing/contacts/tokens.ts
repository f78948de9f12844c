/** Random tokens that stand for a contact: in links to a list's token_hosts and in the links of public pages. */
import { createHash, randomBytes } from 'node:crypto';

/** Too many to guess at any rate: 192 random bits. */
const TOKEN_BYTES = 24;

/** A token in base64url, 32 characters. */
export function createContactToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 in hex: what is kept of a token that only its link may hold. */
export function hashContactToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
