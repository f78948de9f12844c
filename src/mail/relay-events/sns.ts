/**
 * Amazon's SNS, by which SES tells: whether an envelope is signed by Amazon, what is in it, and confirming the
 * one topic that a mailbox hears of.
 */
import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { AppError, invalid } from '../../errors.ts';
import { DAY_MS, MINUTE_MS, monotonicMs } from '../../platform/host/clock.ts';
import { askOutside, type Outside, OutsideError } from '../../platform/http/outside.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { hashToken } from '../../platform/secrets/token-format.ts';
import type { EventRequest } from './providers.ts';
import type { RelayEvents } from './service.ts';
import type { EventsRow } from './tables.ts';

/** Contract. */
const MAX_BYTES = 64 * 1024;
const KEPT_MS = DAY_MS;
const FAILURE_KEPT_MS = MINUTE_MS;
/** A region has one or two at a time; whoever names more has each fetched again. */
const MAX_KEPT = 20;

const TEXT_OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const TEXT_OF_CONFIRMATION = [
  'Message',
  'MessageId',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
];
const DIGESTS: Readonly<Record<string, string>> = { 1: 'sha1', 2: 'sha256' };

interface SnsDeps extends Outside {
  relay_events: Pick<RelayEvents, 'claimTopic' | 'noteConfirmed'>;
}

type Envelope = Readonly<Record<string, string>>;

export class Sns {
  /** Keys of certificates by their addresses; null where one could not be had. The oldest is the first. */
  readonly #keys = new Map<string, { key: KeyObject | null; until_ms: number }>();
  #fetching: { href: string; done: Promise<unknown> } | null = null;

  constructor(private readonly deps: SnsDeps) {}

  /**
   * The text of a Notification; null for what is none. Confirms the first topic that asks for it. Throws
   * AppError `invalid`, `unauthenticated`, and `rate_limited` where Amazon could not be asked.
   */
  async open(row: EventsRow, { headers, body }: EventRequest): Promise<string | null> {
    const envelope = this.#envelopeIn(headers, body);
    const { Type: type = '', TopicArn: topic = '' } = envelope;
    // It changes nothing here, whoever says it.
    if (type === 'UnsubscribeConfirmation') return null;
    if (row.topic === null ? type === 'Notification' : row.topic !== topic)
      throw refused('It comes from a topic of SNS that this mailbox did not confirm.');
    const certificate = amazonUrl(envelope.SigningCertURL);
    if (!certificate?.pathname.endsWith('.pem')) throw refused('Its SigningCertURL is none of Amazon SNS.');
    if (!isSigned(envelope, await this.#keyAt(certificate)))
      throw refused('Its signature is not that of SNS.');
    if (type === 'Notification') return envelope.Message ?? '';
    await this.#confirm(row, topic, envelope.SubscribeURL);
    return null;
  }

  #envelopeIn(headers: Headers, body: unknown): Envelope {
    const { Type: type, eventType, notificationType } = isPlainObject(body) ? body : {};
    if (headers.get('x-amz-sns-rawdelivery') === 'true' || (eventType ?? notificationType) !== undefined)
      throw refused('It has no signature: switch raw message delivery off in the subscription of SNS.');
    if (
      !isPlainObject(body) ||
      typeof type !== 'string' ||
      !/^(?:Notification|(?:Subscription|Unsubscribe)Confirmation)$/.test(type)
    )
      throw invalid({ _: ['The body is no message of Amazon SNS.'] });
    return Object.fromEntries(
      Object.entries(body).filter((field): field is [string, string] => typeof field[1] === 'string'),
    );
  }

  /** Claimed first: should we be ended in between, SNS repeats what it has no answer to. */
  async #confirm(row: EventsRow, topic: string, subscribe_url: string | undefined): Promise<void> {
    const url = amazonUrl(subscribe_url);
    if (!url) throw refused('Its SubscribeURL is none of Amazon SNS.');
    const confirmed = hashToken(url.href);
    if (row.confirmed === confirmed) return;
    if (!(await this.deps.relay_events.claimTopic(row, topic)))
      throw refused('Another topic of SNS was confirmed for this mailbox.');
    if ((await this.#get(url)) === null)
      throw later('Amazon SNS could not be asked to confirm the subscription.');
    await this.deps.relay_events.noteConfirmed(row, confirmed);
  }

  async #keyAt(url: URL): Promise<KeyObject> {
    const { href } = url;
    const known = this.#keys.get(href);
    if (!known || known.until_ms < monotonicMs()) {
      if (this.#fetching && this.#fetching.href !== href)
        throw later('Another certificate is being fetched.');
      this.#fetching ??= { href, done: this.#fetchKey(url) };
      await this.#fetching.done;
    }
    const key = this.#keys.get(href)?.key;
    if (!key) throw later('The certificate of Amazon SNS could not be fetched.');
    return key;
  }

  async #fetchKey(url: URL): Promise<void> {
    try {
      const pem = await this.#get(url);
      const key = pem === null ? null : keyIn(pem);
      this.#keys.delete(url.href);
      this.#keys.set(url.href, { key, until_ms: monotonicMs() + (key ? KEPT_MS : FAILURE_KEPT_MS) });
      const [oldest] = this.#keys.keys();
      if (this.#keys.size > MAX_KEPT && oldest !== undefined) this.#keys.delete(oldest);
    } finally {
      this.#fetching = null;
    }
  }

  /** What is answered to a GET, whole; null where that is no success. Follows no redirect. */
  async #get(url: URL): Promise<string | null> {
    try {
      const answer = await askOutside(this.deps, url, { max_bytes: MAX_BYTES });
      return answer.ok ? await answer.text() : null;
    } catch (error) {
      if (error instanceof OutsideError) return null;
      throw error;
    }
  }
}

/** An address of Amazon's that may be asked for; null for any other. */
function amazonUrl(text: string | undefined): URL | null {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
  // Neither a user nor a port, not even that of https.
  const is_plain = text?.startsWith(`https://${url?.hostname}/`);
  return url && is_plain && /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/.test(url.hostname) ? url : null;
}

function keyIn(pem: string): KeyObject | null {
  try {
    const { publicKey } = new X509Certificate(pem);
    return publicKey.asymmetricKeyType === 'rsa' ? publicKey : null;
  } catch {
    return null;
  }
}

function isSigned(envelope: Envelope, key: KeyObject): boolean {
  const digest = DIGESTS[envelope.SignatureVersion ?? ''];
  const names = envelope.Type === 'Notification' ? TEXT_OF_NOTIFICATION : TEXT_OF_CONFIRMATION;
  const told = names.filter((name) => name !== 'Subject' || envelope.Subject !== undefined);
  if (digest === undefined || told.some((name) => envelope[name] === undefined)) return false;
  const text = told.map((name) => `${name}\n${envelope[name]}\n`).join('');
  return verify(digest, Buffer.from(text), key, Buffer.from(envelope.Signature ?? '', 'base64'));
}

export function refused(message: string): AppError {
  return new AppError('unauthenticated', message);
}

export function later(message: string): AppError {
  return new AppError('rate_limited', `${message} Send it again later.`, { retry_after_s: 60 });
}
