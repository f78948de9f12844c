/** Signatures of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA-256 of id, time, body. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
export const SIGNATURE_HEADER = 'webhook-signature';
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

export function createSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The headers that tell a receiver what it got and that it is from here: one signature for each secret. */
export function signedHeaders(
  secrets: readonly string[],
  message: { id: string; at_ms: number; body: string },
): Record<string, string> {
  const { id, at_ms, body } = message;
  const timestamp = String(Math.floor(at_ms / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    [SIGNATURE_HEADER]: signatures.join(' '),
  };
}
