/** Asking an authority for a certificate, in a thread of its own: only there is the client for it loaded, and it can be ended. */
import { requireThreadDescriptors } from '../../platform/host/descriptors.ts';
import type { TlsIdentity } from '../../platform/http/listener.ts';

export interface AcmeOrder {
  acme_directory: string;
  acme_email: string | null;
  names: readonly string[];
  /** In PEM; whoever has no account at the authority gets one. */
  account_key: string;
}

/** What the thread is told: what to order, and which token the authority would find by now. */
export type AcmeAsk = AcmeOrder | { ready: string };

/** What the thread tells: what the authority is to find by a token, for each name, and at last how it went. */
export type AcmeReply =
  | { token: string; key_authorization: string }
  | { identity: TlsIdentity }
  | { failure: string };

/** Far beyond what the thread gives an authority for each step. */
const ORDER_DEADLINE_MS = 15 * 60_000;

/**
 * Orders a certificate with a key of its own. `challenges` has what the authority is to find, as long as it looks. Throws the
 * first error that the authority, or the way to it, gave.
 */
export async function orderCertificate(
  order: AcmeOrder,
  challenges: Map<string, string>,
): Promise<TlsIdentity> {
  requireThreadDescriptors();
  const worker = new Worker(new URL('./acme.worker.ts', import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<TlsIdentity>();
  worker.onmessage = ({ data }: MessageEvent<AcmeReply>) => {
    if ('token' in data) {
      challenges.set(data.token, data.key_authorization);
      worker.postMessage({ ready: data.token } satisfies AcmeAsk);
    } else if ('identity' in data) resolve(data.identity);
    else reject(new Error(data.failure));
  };
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.addEventListener('close', () => reject(new Error('the thread that orders ended')));
  const deadline = setTimeout(() => reject(new Error('nothing came of it in time')), ORDER_DEADLINE_MS);
  worker.postMessage(order satisfies AcmeAsk);
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    challenges.clear();
    worker.terminate();
  }
}
