/** The mailer's thread: builds and signs messages and talks SMTP, so that no request waits for it. */
import { AppError, messageOf } from '../../errors.ts';
import { isShortage } from '../host/shortages.ts';
import { serve } from '../host/threads.ts';
import { createResolver } from './dns.ts';
import { FramedMessages } from './framed-message.ts';
import { bytesOf, type ComposedMessage, composeMessage, signWhole, withFields } from './message.ts';
import { interruptedOutcome, postponedOutcome, unmadeOutcome } from './outcomes.ts';
import { serverLookup } from './server-lookup.ts';
import { checkRelay } from './smtp-check.ts';
import { SmtpPool } from './smtp-pool.ts';
import type { SessionTerms } from './smtp-session.ts';
import { slowdownOf } from './throttling.ts';
import type {
  DeliveryOutcome,
  KeyedContent,
  MailContent,
  MailerReply,
  MailerRequest,
  SmtpRoute,
  UnsentOutcome,
  WholeContent,
} from './types.ts';

type Deliver = Extract<MailerRequest, { op: 'deliver' }>;

const pools = new Map<string, SmtpPool>();
/** By key; which ones there are is the main thread's to decide. */
const frames = new Map<string, FramedMessages>();
let terms: SessionTerms | null = null;
let delivering = 0;
let is_stopping = false;
let stopped = Promise.withResolvers<MailerReply>();
const DONE: MailerReply = { op: 'done' };

serve((request: MailerRequest): MailerReply | Promise<MailerReply> => {
  switch (request.op) {
    case 'configure':
      // One mailer after the other may use the thread: each begins anew.
      pools.clear();
      frames.clear();
      is_stopping = false;
      stopped = Promise.withResolvers();
      terms = {
        deadlines: request.deadlines,
        lookup: serverLookup({ resolver: createResolver({ servers: request.dns_servers }) }),
      };
      return DONE;
    case 'keep_frame':
      frames.set(request.frame.key, new FramedMessages(request.frame));
      return DONE;
    case 'drop_frames':
      frames.clear();
      return DONE;
    case 'deliver':
      return deliver(request);
    case 'compose':
      return composeBytes(request.content);
    case 'check':
      return checkRelay(request.route, request.from, configured()).then((check) => ({
        op: 'checked',
        check,
      }));
    case 'stop':
      is_stopping = true;
      for (const pool of pools.values()) pool.stop();
      noteIfStopped();
      return stopped.promise;
    case 'give_up':
      for (const pool of pools.values()) pool.giveUp();
      return DONE;
  }
});

async function composeBytes(content: MailContent | KeyedContent | WholeContent): Promise<MailerReply> {
  try {
    const message = await compose(content);
    return { op: 'composed', message: 'path' in content ? message.signature : await bytesOf(message) };
  } catch (error) {
    throw isShortage(error) ? new AppError('unavailable', messageOf(error)) : error;
  }
}

async function compose(content: MailContent | KeyedContent | WholeContent): Promise<ComposedMessage> {
  if ('path' in content) return signWhole(content);
  if (!('frame_key' in content)) return composeMessage(content);
  const frame = frames.get(content.frame_key);
  if (!frame) throw new Error('the mailer worker got a mail before its frame');
  return frame.compose(content);
}

async function deliver(request: Deliver): Promise<MailerReply> {
  delivering += 1;
  const outcome = await composeAndSend(request).finally(() => {
    delivering -= 1;
  });
  const slowdown = slowdownOf(outcome);
  noteIfStopped();
  return { op: 'delivered', outcome: slowdown ? { ...outcome, slowdown } : outcome };
}

async function composeAndSend(request: Deliver): Promise<DeliveryOutcome> {
  const { content, route, recipients, options, handed } = request;
  let message: ComposedMessage;
  try {
    message = await withFields(await compose(content), options.fields ?? {});
  } catch (error) {
    if (isShortage(error)) return postponedOutcome(messageOf(error));
    // A mail that is unfit stays so; any other failure may pass.
    return unmadeOutcome(messageOf(error), { is_permanent: error instanceof AppError });
  }
  if (is_stopping)
    return interruptedOutcome('The mailer stopped before this mail was handed over.', { may_be_sent: false });
  const plain = route.return_path ?? content.from.address;
  const hand = (from: string): Promise<DeliveryOutcome> => {
    const onWritten = (): void => {
      handed[0] = 1;
    };
    const envelope = { from, recipients, id: options.envelope_id ?? null, onWritten };
    return poolOf(route).deliver(envelope, message, options.purpose ?? 'transactional');
  };
  const own = options.return_path ?? plain;
  const outcome = await hand(own);
  if (own === plain || !mayBeOfSender(outcome)) return outcome;
  const again = await hand(plain);
  // After a 4xx the next mail tries its own sender again: the reason may have passed.
  const is_of_sender = outcome.outcome === 'refused' && !mayBeOfSender(again) && hasBeenJudged(again);
  return is_of_sender ? { ...again, return_path_refusal: outcome.response } : again;
}

/**
 * Whether a refusal before the content may be about the sender, which some relays judge only at RCPT. A 4xx
 * at RCPT does not count: it is mostly greylisting.
 */
function mayBeOfSender(outcome: DeliveryOutcome): outcome is UnsentOutcome {
  if (outcome.outcome === 'deferred') return outcome.stage === 'mail';
  if (outcome.outcome !== 'refused' || outcome.about === 'recipient' || outcome.about === 'full')
    return false;
  return outcome.stage === 'mail' || outcome.stage === 'rcpt';
}

function hasBeenJudged({ outcome }: DeliveryOutcome): boolean {
  return outcome === 'sent' || outcome === 'refused' || outcome === 'deferred';
}

function poolOf(route: SmtpRoute): SmtpPool {
  const known = pools.get(route.key);
  if (known) return known;
  const pool = new SmtpPool(route, configured(), () => pools.delete(route.key));
  pools.set(route.key, pool);
  return pool;
}

function configured(): SessionTerms {
  if (!terms) throw new Error('the mailer worker got a request before its configuration');
  return terms;
}

function noteIfStopped(): void {
  if (is_stopping && delivering === 0) stopped.resolve(DONE);
}
