/** The pace of each mailbox as it is kept: what is asked of it, what goes by it, and what its relay says. */
import type { Tx } from '../../platform/database/database.ts';
import type { DeliveryOutcome } from '../../platform/mail/types.ts';
import { hasBeenJudged, hasFailedToConnect } from './health.ts';
import {
  type Answer,
  type Burst,
  heldUntil,
  isHeld,
  learn,
  learnNothing,
  newBurst,
  opensByWait,
  remembered,
  UNPACED,
} from './learning.ts';
import { afterMail, opensAt, parseRate, type Rate, roomOf } from './pace.ts';
import type { Pace } from './store.ts';
import * as store from './store.ts';

interface Paced {
  pace: Pace;
  rate: Rate | null;
}

export class Paces {
  /**
   * By mailbox. Where the transaction of an answer fails, that one is counted twice: at worst a wait begins
   * early.
   */
  readonly #bursts = new Map<number, Burst>();

  /**
   * How many of up to `most` mails may leave a mailbox now, and when the next one may; null where nothing
   * holds them back.
   */
  roomNow(
    tx: Tx,
    mailbox_id: number,
    asked: { now_ms: number; most: number },
  ): { room: number; opens_at: number } | null {
    const paced = pacedOf(tx, mailbox_id, asked.now_ms);
    if (!paced) return null;
    const { pace, rate } = paced;
    return { room: roomOf(pace, rate, asked), opens_at: opensAt(pace, rate, asked.now_ms) };
  }

  /**
   * Whether no mail may leave a mailbox, as no connection to it can be made, while another one may take such
   * mail.
   */
  isAway(tx: Tx, mailbox_id: number, now_ms: number): boolean {
    const pace = store.findPace(tx, mailbox_id);
    return pace !== null && opensByWait(pace, now_ms) > now_ms && store.hasStandIn(tx, mailbox_id, now_ms);
  }

  /** What holds back the mail of a mailbox at present, and until when at least; null where nothing does. */
  heldBack(tx: Tx, mailbox_id: number, now_ms: number): { until: number; words: string | null } | null {
    const paced = pacedOf(tx, mailbox_id, now_ms);
    if (!paced) return null;
    const until = opensAt(paced.pace, paced.rate, now_ms);
    const words = opensByWait(paced.pace, now_ms) > now_ms ? paced.pace.words : null;
    return until <= now_ms ? null : { until: Math.max(until, heldUntil(paced.pace, now_ms) ?? 0), words };
  }

  /**
   * Counts one mail more, and returns when it may go: now, as a mailbox has a turn for what is queued, or
   * later where its rate lets one that somebody waits for not go yet.
   */
  take(tx: Tx, mailbox_id: number, now_ms: number, options = { is_waited_for: false }): number {
    const paced = pacedOf(tx, mailbox_id, now_ms);
    if (!paced) return now_ms;
    const { pace, rate } = paced;
    const at = options.is_waited_for ? Math.max(now_ms, opensAt(pace, rate, now_ms, options)) : now_ms;
    store.savePace(tx, mailbox_id, afterMail(pace, rate, at));
    return at;
  }

  /** Notes what a relay answered to a mail that was begun at `started_at`. */
  record(
    tx: Tx,
    mailbox_id: number,
    outcome: DeliveryOutcome,
    at: Pick<Answer, 'started_at' | 'now_ms'>,
  ): void {
    const found = find(tx, mailbox_id);
    if (!found) return;
    const { pace } = found;
    const refusal = refusalOf(outcome);
    const after =
      refusal === undefined ? learnNothing(pace) : this.#learn(mailbox_id, pace, { ...at, refusal });
    if (after !== pace) store.savePace(tx, mailbox_id, after);
  }

  #learn(mailbox_id: number, pace: Pace, answer: Answer): Pace {
    const burst = this.#bursts.get(mailbox_id) ?? newBurst(answer.started_at);
    this.#bursts.set(mailbox_id, burst);
    return learn(pace, burst, answer, Math.random());
  }

  /** Forgets what the relay of a mailbox has taught. What goes by the rate stays. */
  forget(tx: Tx, mailbox_id: number): void {
    this.#bursts.delete(mailbox_id);
    const pace = store.findPace(tx, mailbox_id);
    if (pace) store.savePace(tx, mailbox_id, unlearned(pace));
  }
}

function unlearned({ turn_at, sent }: Pace): Pace {
  return { ...UNPACED, turn_at, sent };
}

/** Null where mail goes as fast as it can. */
function pacedOf(tx: Tx, mailbox_id: number, now_ms: number): Paced | null {
  const found = find(tx, mailbox_id);
  return found === null || (found.rate === null && !isHeld(remembered(found.pace, now_ms))) ? null : found;
}

function find(tx: Tx, mailbox_id: number): Paced | null {
  const found = store.findPaced(tx, mailbox_id);
  return found && { rate: found.rate === null ? null : parseRate(found.rate), pace: found.pace ?? UNPACED };
}

/**
 * What a relay holds against more mail: it asked for less, or no connection to it can be made. Null where it
 * took or judged the mail, undefined where it did neither. A log-in that is refused for good says nothing of
 * pace.
 */
function refusalOf(outcome: DeliveryOutcome): Answer['refusal'] | undefined {
  if (outcome.slowdown) return outcome.slowdown;
  if (outcome.outcome === 'sent' || hasBeenJudged(outcome)) return null;
  const is_opening = ['connect', 'greeting', 'tls', 'auth'].includes(outcome.stage);
  if (!is_opening || !hasFailedToConnect(outcome) || outcome.about !== null) return undefined;
  return { words: outcome.response, asked_ms: null, is_quota: false };
}
