/** Asks an authority for a certificate, in a thread: only there its client is loaded; it can be ended. */
import { Thread, ThreadEnded } from '../../platform/host/threads.ts';
import type { TlsIdentity } from '../../platform/http/listener.ts';

export interface AcmeOrder {
  acme_directory: string;
  acme_email: string | null;
  names: readonly string[];
  /** In PEM; whoever has no account at the authority gets one. */
  account_key: string;
}

/** Tells the thread to order, or that the authority would find a token by now. */
export type AcmeAsk = AcmeOrder | { ready: string };

/** The thread tells for each name which text the authority is to find by a token. */
export interface AcmeChallenge {
  token: string;
  key_authorization: string;
}

/** Far beyond what the thread gives an authority for each step. */
const ORDER_DEADLINE_MS = 15 * 60_000;

/**
 * Orders a certificate with a new key. `challenges` holds what the authority is to find while it looks.
 * Throws the first error of the authority or of the way to it.
 */
export async function orderCertificate(
  order: AcmeOrder,
  challenges: Map<string, string>,
): Promise<TlsIdentity> {
  const thread = new Thread<AcmeAsk, TlsIdentity | null, AcmeChallenge>({
    start: () => new Worker(new URL('./acme.worker.ts', import.meta.url)),
    idle_stop_ms: 0,
    onNotice: ({ token, key_authorization }) => {
      challenges.set(token, key_authorization);
      thread.tell({ ready: token });
    },
  });
  const late = new ThreadEnded('nothing came of it in time');
  const deadline = setTimeout(() => thread.end(late), ORDER_DEADLINE_MS);
  try {
    const identity = await thread.ask(order);
    if (identity) return identity;
    throw new Error('the thread that orders gave no certificate');
  } finally {
    clearTimeout(deadline);
    challenges.clear();
    thread.end(late);
  }
}
