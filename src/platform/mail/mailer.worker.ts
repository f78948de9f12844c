/** The mailer's thread: builds and signs messages and talks SMTP, so that neither holds up requests. Started by mailer.ts alone. */
import { AppError, messageOf } from '../../errors.ts';
import { isShortage } from '../host/shortages.ts';
import { FramedMessages } from './framed-message.ts';
import { bytesOf, type ComposedMessage, composeMessage, signWhole } from './message.ts';
import { interruptedOutcome, postponedOutcome, unmadeOutcome } from './outcomes.ts';
import { SmtpPool } from './smtp-pool.ts';
import { slowdownOf } from './throttling.ts';
import type {
  DeliveryOutcome,
  KeyedContent,
  MailContent,
  MailerReply,
  MailerRequest,
  SmtpDeadlines,
  SmtpRoute,
  UnsentOutcome,
  WholeContent,
} from './types.ts';

declare const self: Worker;

type Deliver = Extract<MailerRequest, { op: 'deliver' }>;

const pools = new Map<string, SmtpPool>();
/** By key; which ones there are is the main thread's to decide. */
const frames = new Map<string, FramedMessages>();
const replies: MailerReply[] = [];
let deadlines: SmtpDeadlines | null = null;
let delivering = 0;
let is_stopping = false;

self.onmessage = (event: MessageEvent<MailerRequest[]>) => {
  for (const request of event.data) handle(request);
};

function handle(request: MailerRequest): void {
  switch (request.op) {
    case 'configure':
      deadlines = request.deadlines;
      return;
    case 'keep_frame':
      frames.set(request.frame.key, new FramedMessages(request.frame));
      return;
    case 'drop_frames':
      frames.clear();
      return;
    case 'deliver':
      void deliver(request);
      return;
    case 'compose':
      compose(request.content)
        .then(bytesOf)
        .then((message) => reply({ op: 'composed', id: request.id, message }))
        .catch((error: unknown) => reply(unfit(request.id, error)));
      return;
    case 'stop':
      is_stopping = true;
      for (const pool of pools.values()) pool.stop();
      reportIfStopped();
      return;
    case 'give_up':
      for (const pool of pools.values()) pool.giveUp();
  }
}

async function compose(content: MailContent | KeyedContent | WholeContent): Promise<ComposedMessage> {
  if ('path' in content) return signWhole(content);
  if (!('frame_key' in content)) return composeMessage(content);
  const frame = frames.get(content.frame_key);
  if (!frame) throw new Error('the mailer worker got a mail before its frame');
  return frame.compose(content);
}

/** Answers that fall due in one turn of the event loop travel together: a message between threads costs more than its content. */
function reply(answer: MailerReply): void {
  if (replies.push(answer) === 1) setImmediate(() => postMessage(replies.splice(0)));
}

function unfit(id: number, error: unknown): MailerReply {
  const message = messageOf(error);
  if (isShortage(error)) return { op: 'unfit', id, kind: 'unavailable', message };
  const is_of_mail = error instanceof AppError && (error.kind === 'invalid' || error.kind === 'not_found');
  return { op: 'unfit', id, kind: is_of_mail ? error.kind : 'internal', message };
}

async function deliver(request: Deliver): Promise<void> {
  delivering += 1;
  const outcome = await composeAndSend(request);
  delivering -= 1;
  const slowdown = slowdownOf(outcome);
  reply({ op: 'delivered', id: request.id, outcome: slowdown ? { ...outcome, slowdown } : outcome });
  reportIfStopped();
}

async function composeAndSend({ content, route, recipients, options }: Deliver): Promise<DeliveryOutcome> {
  let message: ComposedMessage;
  try {
    message = await compose(content);
  } catch (error) {
    if (isShortage(error)) return postponedOutcome(messageOf(error));
    // A mail that is unfit stays so; any other failure may pass.
    return unmadeOutcome(messageOf(error), { is_permanent: error instanceof AppError });
  }
  if (is_stopping)
    return interruptedOutcome('The mailer stopped before this mail was handed over.', { may_be_sent: false });
  const plain = route.return_path ?? content.from.address;
  const hand = (from: string): Promise<DeliveryOutcome> => {
    const envelope = { from, recipients, id: options.envelope_id ?? null };
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
 * Whether a refusal before the content may be about the sender, which some relays judge only at RCPT. A 4xx at RCPT does not
 * count: most often it is greylisting.
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

function configured(): SmtpDeadlines {
  if (!deadlines) throw new Error('the mailer worker got a request before its configuration');
  return deadlines;
}

function reportIfStopped(): void {
  if (is_stopping && delivering === 0) reply({ op: 'stopped' });
}
