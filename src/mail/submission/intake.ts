/** A message on its way in: read and written as it comes, on disk before anybody is asked whether it is taken. */
import type { SMTPServerAddress } from 'smtp-server';
import { errorCodeOf } from '../../errors.ts';
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../../limits.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import type { BlobUpload } from '../../platform/files/upload.ts';
import { type Clock, systemClock } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { isShortage } from '../../platform/host/shortages.ts';
import type { Turns } from '../../platform/host/turns.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { BrokenMessage, type Field, fieldValue } from '../header-section.ts';
import { factsOf, missingFields } from '../message-facts.ts';
import { MessageReader } from '../message-reading.ts';
import { type Answer, type Question, Refusal, type Reply, type Submitted } from './protocol.ts';

/** What is read at once, so that no other client waits long: lines of no character take the longest. */
const PIECE_BYTES = 16 * 1024;

export interface IntakeDeps {
  blobs: BlobStore;
  max_bytes: number;
  /** How long reading one may hold the processor. */
  read_ms: number;
  /** Of all messages that are on their way. */
  turns: Turns;
  ask(question: Question): Promise<Answer>;
  clock?: Clock;
}

/** What comes of one DATA. */
interface Incoming {
  stream: AsyncIterable<Buffer>;
  api_key: string;
  recipients: readonly SMTPServerAddress[];
  /** So much of it came. */
  onProgress(bytes: number): void;
  /** It is so long that the client is hung up on. */
  hangUp(reply: Reply): void;
}

/**
 * Takes a message; resolves with the text of its 250 once all is on disk. Reads it to its end also where it is refused. Throws
 * Refusal, and whatever the stream throws where the client is gone; then nothing stays behind.
 */
export async function receive(incoming: Incoming, deps: IntakeDeps): Promise<string> {
  const { blobs, clock = systemClock } = deps;
  const id = newId(clock.now());
  const upload = blobs.openUpload(id);
  const complete = (fields: readonly Field[]) => missingFields(fields, { id, now_ms: clock.now() });
  const reader = new MessageReader({ complete });
  try {
    await readAll(incoming, { ...deps, upload, reader });
    const message = describe(reader.fields ?? [], incoming.recipients, id);
    await upload.commit();
    const { size_bytes } = upload;
    const answer = await deps.ask({
      op: 'take',
      api_key: incoming.api_key,
      message: { ...message, size_bytes, sha256: upload.sha256() },
    });
    if (!answer.ok || !answer.taken?.is_kept) await blobs.remove(id);
    if (!answer.ok) throw new Refusal(answer.reply);
    return `2.0.0 queued as ${answer.taken?.id}`;
  } catch (error) {
    throw new Refusal(replyTo(error));
  } finally {
    await upload.abort(); // What was committed stays.
  }
}

async function readAll(
  { stream, onProgress, hangUp }: Incoming,
  { max_bytes, read_ms, turns, upload, reader }: IntakeDeps & { upload: BlobUpload; reader: MessageReader },
): Promise<void> {
  const too_large = { code: 552, text: `5.3.4 A message may have ${max_bytes} bytes at most.` };
  let came_bytes = 0;
  let left_ms = read_ms;
  let failure: unknown = null;
  const read = (piece: Buffer): Buffer => {
    const began = process.threadCpuUsage();
    const kept = reader.take(piece);
    const { user, system } = process.threadCpuUsage(began);
    left_ms -= (user + system) / 1_000;
    if (left_ms < 0) throw new BrokenMessage(`reading it takes more than ${read_ms / 1_000} s`);
    return kept;
  };
  for await (const chunk of stream) {
    came_bytes += chunk.length;
    onProgress(chunk.length);
    if (came_bytes > 2 * max_bytes) hangUp(too_large);
    if (failure !== null) continue;
    try {
      if (came_bytes > max_bytes) throw new Refusal(too_large);
      for (let at = 0; at < chunk.length; at += PIECE_BYTES)
        await upload.write(await turns.do(() => read(chunk.subarray(at, at + PIECE_BYTES))));
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== null) throw failure;
  await upload.write(reader.end());
}

/** The failure as the client is told of it. */
function replyTo(error: unknown): Reply {
  if (error instanceof Refusal) return { code: error.responseCode, text: error.message };
  if (error instanceof BrokenMessage)
    return { code: 554, text: `5.6.0 The message is not taken: ${error.message}.` };
  const is_full = isShortage(error) && !/^E[MN]FILE$/.test(codeOf(error) ?? '');
  if (is_full) return { code: 452, text: "4.3.1 The server's disk is full. Try again later." };
  return { code: 451, text: '4.3.0 The message could not be stored. Try again later.' };
}

function codeOf(error: unknown): string | null {
  return errorCodeOf(error) ?? (error instanceof Error && error.cause ? codeOf(error.cause) : null);
}

function describe(
  fields: readonly Field[],
  recipients: readonly SMTPServerAddress[],
  id: string,
): Omit<Submitted, 'size_bytes' | 'sha256'> {
  const idempotency_key = fieldValue(fields, 'x-satchel-idempotency-key');
  if (
    idempotency_key !== null &&
    !(idempotency_key.length >= 1 && idempotency_key.length <= MAX_IDEMPOTENCY_KEY_CHARS)
  )
    throw new BrokenMessage(
      `X-Satchel-Idempotency-Key must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters`,
    );
  return { id, ...factsOf(fields, id), idempotency_key, recipients: distinct(recipients) };
}

function distinct(recipients: readonly SMTPServerAddress[]): string[] {
  const addresses = recipients.map(({ address }) => parseAddress(address)?.address ?? address);
  return [...new Map(addresses.map((address) => [address.toLowerCase(), address])).values()];
}
