/** The captcha provider: one POST of a form, one JSON answer, both bounded in time and size. */
import { requireThreadDescriptors } from '../platform/host/shortages.ts';
import { isPlainObject } from '../platform/http/schema.ts';

/** A provider's answer has some hundred bytes; whatever sends more is none. */
const MAX_CAPTCHA_ANSWER_BYTES = 64 * 1024;

export interface ProviderQuestion {
  secret: string;
  token: string;
  remoteip?: string | undefined;
  idempotency_key?: string | undefined;
}

/** A provider's answer about a token. */
export interface ProviderVerdict {
  success: boolean;
  error_codes: string[];
  hostname: string | null;
  challenge_ts: string | null;
  action: string | null;
  cdata: string | null;
}

/** The provider could not be asked, or its answer not be read. The message never holds what was sent. */
export class ProviderFailure extends Error {}

/**
 * Asks the provider. Throws ProviderFailure, and AppError `unavailable` where file descriptors are short.
 * `timeout_ms` lasts to the last byte of the answer.
 */
export async function askProvider(
  at: { url: string; timeout_ms: number },
  question: ProviderQuestion,
): Promise<ProviderVerdict> {
  const form = new URLSearchParams({ secret: question.secret, response: question.token });
  if (question.remoteip !== undefined) form.set('remoteip', question.remoteip);
  if (question.idempotency_key !== undefined) form.set('idempotency_key', question.idempotency_key);
  requireThreadDescriptors();
  const signal = AbortSignal.timeout(at.timeout_ms);
  try {
    const response = await fetch(at.url, {
      method: 'POST',
      body: form,
      headers: { Accept: 'application/json' },
      // A redirect would carry the secret to wherever it points.
      redirect: 'manual',
      signal,
    });
    const text = await readAnswer(response, signal);
    return readVerdict(response.status, text);
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    throw new ProviderFailure(
      signal.aborted ? `no complete answer within ${at.timeout_ms} ms` : 'the connection failed',
    );
  }
}

async function readAnswer(response: Response, signal: AbortSignal): Promise<string> {
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new ProviderFailure(`it answered with a redirect (${response.status}), which is not followed`);
  }
  const reader = response.body?.getReader();
  if (!reader) return '';
  const giveUp = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      // A reader that was cancelled looks just like one that came to the end.
      signal.throwIfAborted();
      if (done) return new TextDecoder().decode(Buffer.concat(chunks));
      size += value.byteLength;
      if (size > MAX_CAPTCHA_ANSWER_BYTES) {
        giveUp();
        throw new ProviderFailure(`its answer is larger than ${MAX_CAPTCHA_ANSWER_BYTES} bytes`);
      }
      chunks.push(value);
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Providers answer some refusals with a 4xx and a readable body; a 5xx says nothing of the visitor. */
function readVerdict(status: number, text: string): ProviderVerdict {
  if (status >= 500) throw new ProviderFailure(`it answered ${status}`);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ProviderFailure(`it answered ${status} with what is no JSON`);
  }
  if (!isPlainObject(answer) || typeof answer.success !== 'boolean') {
    throw new ProviderFailure(`it answered ${status} without a verdict`);
  }
  if (answer.success && status >= 400) throw new ProviderFailure(`it answered ${status} with a success`);
  const codes = answer['error-codes'];
  return {
    success: answer.success,
    error_codes: Array.isArray(codes) ? codes.filter((code) => typeof code === 'string') : [],
    hostname: textOrNull(answer.hostname),
    challenge_ts: textOrNull(answer.challenge_ts),
    action: textOrNull(answer.action),
    cdata: textOrNull(answer.cdata),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
