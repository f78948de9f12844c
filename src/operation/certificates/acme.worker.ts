/** The thread of acme.ts: places one order by ACME (RFC 8555) with HTTP-01, and tells what came of it. */
import { axios, Client, crypto } from 'acme-client';
import { serve } from '../../platform/host/threads.ts';
import type { TlsIdentity } from '../../platform/http/listener.ts';
import type { AcmeAsk, AcmeChallenge, AcmeOrder } from './acme.ts';

/** An answer of an authority: those that are meant have some KB, and come within a second or two. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const ANSWER_TIMEOUT_MS = 30_000;
/** How often, and how long in all, an order is asked after: some three minutes for each of its two steps. */
const ASK_AFTER = { backoffAttempts: 16, backoffMin: 1_000, backoffMax: 15_000 };

/** By token: goes on, once the other side can answer the authority. */
const waiting = new Map<string, () => void>();

const tell = serve<AcmeAsk, TlsIdentity | null, AcmeChallenge>((asked) => {
  if (!('ready' in asked)) return placeOrder(asked);
  waiting.get(asked.ready)?.();
  return null;
});

async function placeOrder(order: AcmeOrder): Promise<TlsIdentity> {
  // Without its own retries: their last error hides the first. Orders are tried again as a whole.
  axios.interceptors.request.clear();
  axios.interceptors.response.clear();
  axios.defaults.timeout = ANSWER_TIMEOUT_MS;
  axios.defaults.maxContentLength = MAX_ANSWER_BYTES;
  const client = new Client({
    directoryUrl: order.acme_directory,
    accountKey: order.account_key,
    ...ASK_AFTER,
  });
  const [key, csr] = await crypto.createCsr(
    { altNames: [...order.names] },
    await crypto.createPrivateEcdsaKey(),
  );
  const chain = await client.auto({
    csr,
    ...(order.acme_email === null ? {} : { email: order.acme_email }),
    termsOfServiceAgreed: true,
    challengePriority: ['http-01'],
    // Its own look at the names, from here, would fail behind a router that leads no way back in.
    skipChallengeVerification: true,
    challengeCreateFn: (_, { token }, key_authorization) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(token, resolve);
      tell({ token, key_authorization });
      return promise;
    },
    challengeRemoveFn: async () => {},
  });
  return { private_key: key.toString(), chain };
}
