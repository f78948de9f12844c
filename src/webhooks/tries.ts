/** One try at telling a webhook: where it goes, how it is signed, and what its answer means. */

import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from '../platform/database/database.ts';
import { type Clock, monotonicMs } from '../platform/host/clock.ts';
import type { Destinations } from '../platform/http/destinations.ts';
import type { Answer } from '../platform/http/exchange.ts';
import { requestOf, type Sender, whyNotTaken } from '../platform/http/sender.ts';
import type { KeyRing } from '../platform/secrets/key-ring.ts';
import type { TryRow, WebhookRow } from './tables.ts';

/** Decision: one try, from the look-up of the name to the end of the answer's headers. */
const WEBHOOK_TRY_TIMEOUT_MS = 15_000;

/** What a try came to. */
export interface Outcome {
  /** What it answered; null where it did not. */
  response_status: number | null;
  /** Null where the receiver has taken it. */
  error: string | null;
  /** It was not tried, for a reason of this machine's: that counts for nothing. */
  is_ours: boolean;
  /** The request and its answer; null where nothing was sent. */
  made: MadeTry | null;
}

export type MadeTry = Omit<TryRow, 'delivery_id' | 'webhook_id'>;

export interface TriesDeps {
  database: Database;
  clock: Clock;
  key_ring: Pick<KeyRing, 'openText'>;
  destinations: Destinations;
  sender: Sender;
}

export class Tries {
  constructor(private readonly deps: TriesDeps) {}

  /** Sends a message once, within WEBHOOK_TRY_TIMEOUT_MS. Changes nothing; never rejects. */
  async send(webhook: WebhookRow, { id, body }: { id: string; body: string }): Promise<Outcome> {
    const began_ms = monotonicMs();
    const at = this.deps.clock.now();
    const secrets = this.secretsOf(webhook);
    if (!secrets) return failed('Its secret does not decrypt: rotate it.');
    const url = new URL(webhook.url);
    const destination = await this.deps.destinations.find(url);
    if ('refusal' in destination) return failed(`Not sent: ${destination.refusal}.`);
    const signed = signedHeaders(secrets, { id, at_ms: at, body });
    const { headers, ...outgoing } = requestOf(
      'POST',
      url,
      { 'Content-Type': 'application/json', ...signed },
      body,
    );
    const timeout_ms = began_ms + WEBHOOK_TRY_TIMEOUT_MS - monotonicMs();
    const answer = await this.deps.sender.sendToFirst(destination.addresses, { ...outgoing, timeout_ms });
    const outcome = outcomeOf(answer);
    if (outcome.is_ours) return outcome;
    const behind_ms = 'failure' in answer ? 0 : answer.behind_ms;
    const ms = Math.round(monotonicMs() - began_ms - behind_ms);
    const { is_inside } = destination;
    const said = 'failure' in answer ? null : answer.said;
    return { ...outcome, made: { at, ms, url: webhook.url, headers, answer: said, is_inside } };
  }

  /** The secrets that sign at present, the newest first; null where it does not decrypt. */
  secretsOf(webhook: WebhookRow): string[] | null {
    const { sealed_secret, sealed_old_secret, old_secret_until } = webhook;
    const secret = this.#open(webhook, sealed_secret);
    if (secret === null) return null;
    const is_past = old_secret_until === null || old_secret_until <= this.deps.clock.now();
    const old = sealed_old_secret === null || is_past ? null : this.#open(webhook, sealed_old_secret);
    return old === null ? [secret] : [secret, old];
  }

  #open(webhook: WebhookRow, sealed: string): string | null {
    const { key_ring, database } = this.deps;
    return key_ring.openText(database.read, sealed, contextOf(webhook));
  }
}

/** The context that binds a sealed secret to its webhook. */
export function contextOf({ public_id }: Pick<WebhookRow, 'public_id'>): string[] {
  return ['webhook', public_id, 'secret'];
}

function outcomeOf(answer: Answer): Outcome {
  const error = whyNotTaken(answer);
  if ('failure' in answer) return { ...failed(error), is_ours: answer.is_ours };
  return { ...failed(error), response_status: answer.status };
}

function failed(error: string | null): Outcome {
  return { response_status: null, error, is_ours: false, made: null };
}

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
