/** Asking an address that a setting or a person named, such as an issuer's, for a whole answer: it goes out as webhooks do. */
import { monotonicMs, SECOND_MS } from '../host/clock.ts';
import type { Destinations } from './destinations.ts';
import { requestOf, type Sender } from './sender.ts';

/** Decision: from the look-up of the name to the end of the answer, and how large that may be. */
const ANSWER_MS = 10 * SECOND_MS;
const MAX_ANSWER_BYTES = 256 * 1024;

export interface Outside {
  destinations: Pick<Destinations, 'find'>;
  sender: Pick<Sender, 'sendToFirst'>;
}

/** Why there is no answer to use. `is_away`: none came, so that another time may do. */
export class OutsideError extends Error {
  constructor(
    message: string,
    readonly is_away: boolean,
  ) {
    super(message);
  }
}

/**
 * The answer of a checked address, within 10 s and 256 KiB unless given; of a redirect as of anything else, as none is followed. Throws
 * OutsideError.
 */
export async function askOutside(
  { destinations, sender }: Outside,
  url: URL,
  {
    method = 'GET',
    headers = {},
    body = '',
    max_bytes = MAX_ANSWER_BYTES,
  }: { method?: string; headers?: Record<string, string>; body?: string; max_bytes?: number },
): Promise<Response> {
  const ends_ms = monotonicMs() + ANSWER_MS;
  const destination = await destinations.find(url);
  if ('refusal' in destination)
    throw new OutsideError(`${url.host} was not asked: ${destination.refusal}`, true);
  const { headers: _, ...outgoing } = requestOf(
    method,
    url,
    { ...headers, 'Accept-Encoding': 'identity' },
    body,
  );
  const timeout_ms = ends_ms - monotonicMs();
  const answer = await sender.sendToFirst(destination.addresses, {
    ...outgoing,
    timeout_ms,
    whole_bytes: max_bytes,
  });
  if ('failure' in answer) throw new OutsideError(`${url.host} gave no answer: ${answer.failure}`, true);
  const { status, said } = answer;
  if (said.is_cut) {
    const is_large = Buffer.byteLength(said.body) > max_bytes - SPLIT_CHARACTER_BYTES;
    throw is_large
      ? new OutsideError(`${url.host} answered with more than ${max_bytes} bytes`, false)
      : new OutsideError(`${url.host} did not end its answer in time`, true);
  }
  if (status > 599) throw new OutsideError(`${url.host} answered ${status}`, false);
  const has_none = said.body === '' || [204, 205, 304].includes(status);
  return new Response(has_none ? null : said.body, {
    status,
    headers: said.content_type === null ? {} : { 'Content-Type': said.content_type },
  });
}

/** What a cut may leave out of its last character. */
const SPLIT_CHARACTER_BYTES = 4;
