/** The connections to one relay: a few, reused, closed when idle. A relay's trouble stays here. */
import { monotonicMs } from '../host/clock.ts';
import type { ComposedMessage } from './message.ts';
import { interruptedOutcome } from './outcomes.ts';
import { type Envelope, openSession, type SessionTerms, SmtpSession } from './smtp-session.ts';
import type { DeliveryOutcome, MailPurpose, SmtpRoute, UnsentOutcome } from './types.ts';

/** Open connections to one relay; most providers allow at least 10. */
const SMTP_CONNECTIONS_PER_MAILBOX = 10;
/** Relays that limit connections may count ended ones for a while: how often and long one is tried. */
const SMTP_REOPEN_EVERY_MS = 500;
const SMTP_REOPEN_WITHIN_MS = 5_000;

interface WaitingMail {
  envelope: Envelope;
  message: ComposedMessage;
  purpose: MailPurpose;
  /** Its first connection turned out to be dead before anything was said over it. */
  is_second_try: boolean;
  resolve(outcome: DeliveryOutcome): void;
}

interface IdleSession {
  session: SmtpSession;
  since_ms: number;
  /** It has taken a mail before: the relay may have closed it since. */
  is_reused: boolean;
}

/** Timers are late: mails may be this much behind their spacing and catch up. */
const GAP_CATCH_UP_MS = 20;

const STOPPING = 'The mailer stopped before this mail was handed over.';
const STOPPED = 'The server stopped before the relay answered.';

export class SmtpPool {
  readonly #route: SmtpRoute;
  readonly #terms: SessionTerms;
  readonly #onEmpty: () => void;
  #waiting: WaitingMail[] = [];
  readonly #idle: IdleSession[] = [];
  readonly #live = new Set<SmtpSession>();
  #opening = 0;
  /** The most connections to open: as many as the relay takes while it refuses more, at least one. */
  #max_live = SMTP_CONNECTIONS_PER_MAILBOX;
  /** When the last of its connections ended. */
  #last_end_ms = Number.NEGATIVE_INFINITY;
  /** When the next mail may begin, where mails keep a distance. */
  #next_at_ms = 0;
  #turn: Timer | null = null;
  /** Until then no connection is opened. */
  #pause: Timer | null = null;
  #sweeper: Timer | null = null;
  #is_stopping = false;

  /** `onEmpty` is called whenever the pool has neither mail nor connections left. */
  constructor(route: SmtpRoute, terms: SessionTerms, onEmpty: () => void) {
    this.#route = route;
    this.#terms = terms;
    this.#onEmpty = onEmpty;
  }

  /** Sends a mail over the next free connection. Never throws. */
  deliver(envelope: Envelope, message: ComposedMessage, purpose: MailPurpose): Promise<DeliveryOutcome> {
    if (this.#is_stopping) return Promise.resolve(interruptedOutcome(STOPPING, { may_be_sent: false }));
    return new Promise((resolve) => {
      this.#queue({ envelope, message, purpose, is_second_try: false, resolve });
      this.#dispatch();
    });
  }

  /** Queues a mail: transactional ones before marketing, each kind in the order in which it came. */
  #queue(mail: WaitingMail): void {
    const first_after =
      mail.purpose === 'transactional' ? this.#waiting.findIndex((one) => one.purpose === 'marketing') : -1;
    this.#waiting.splice(first_after < 0 ? this.#waiting.length : first_after, 0, mail);
  }

  /** Gives up what has not reached DATA; what has is left to finish. Idle connections are closed. */
  stop(): void {
    this.#is_stopping = true;
    this.#answerWaiting(interruptedOutcome(STOPPING, { may_be_sent: false }));
    for (const { session } of this.#idle.splice(0)) session.quit();
    for (const session of this.#live) if (!session.isPastEnvelope) session.interrupt(STOPPING);
  }

  /** Waits no longer for what was left to finish. */
  giveUp(): void {
    for (const session of this.#live) session.interrupt(STOPPED);
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && !this.#awaitsTurn()) {
      // The one that has rested longest, as some relays limit what each connection takes.
      const idle = this.#idle.shift();
      if (idle?.session.isClosed) continue;
      if (idle) {
        const mail = this.#waiting.shift();
        if (mail) void this.#send(idle.session, mail, idle.is_reused);
        continue;
      }
      const may_open =
        this.#pause === null &&
        this.#live.size + this.#opening < this.#max_live &&
        this.#opening < this.#waiting.length;
      if (!may_open) return;
      void this.#open();
    }
  }

  /** Whether the next mail has to wait for the spacing; a timer then starts it. */
  #awaitsTurn(): boolean {
    const wait_ms = this.#next_at_ms - GAP_CATCH_UP_MS - monotonicMs();
    if (wait_ms <= 0) return false;
    this.#turn ??= setTimeout(() => {
      this.#turn = null;
      this.#dispatch();
    }, wait_ms);
    return true;
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    const session = await openSession(this.#route, this.#terms);
    this.#opening -= 1;
    if (!(session instanceof SmtpSession)) {
      this.#onOpeningFailed(session);
      return;
    }
    // After a pause one connection is tried first. Opening more shows how many the relay takes.
    if (this.#live.size === 0) this.#max_live = SMTP_CONNECTIONS_PER_MAILBOX;
    this.#live.add(session);
    session.onClosed(() => this.#forget(session));
    this.#release(session, false);
  }

  /**
   * Mails wait while other connections work or the relay may still count old ones. Else all of them fail with
   * this attempt.
   */
  #onOpeningFailed(refusal: UnsentOutcome): void {
    if (this.#live.size > 0) this.#max_live = this.#live.size;
    else if (this.#opening === 0 && this.#mayCountEnded(refusal)) this.#pauseOpening();
    else if (this.#opening === 0) this.#answerWaiting(refusal);
    this.#reportIfEmpty();
  }

  /** Whether the relay may refuse a connection because it still counts those that it has just ended. */
  #mayCountEnded(refusal: UnsentOutcome): boolean {
    if (refusal.smtp_code !== 421 || this.#is_stopping) return false;
    return monotonicMs() - this.#last_end_ms < SMTP_REOPEN_WITHIN_MS;
  }

  #pauseOpening(): void {
    this.#max_live = 1;
    this.#pause ??= setTimeout(() => {
      this.#pause = null;
      this.#dispatch();
    }, SMTP_REOPEN_EVERY_MS);
  }

  async #send(session: SmtpSession, mail: WaitingMail, is_reused: boolean): Promise<void> {
    this.#next_at_ms = Math.max(this.#next_at_ms, monotonicMs()) + (this.#route.gap_ms ?? 0);
    const outcome = await session.send(mail.envelope, mail.message);
    const may_go_on = isUsedUp(outcome) || (!mail.is_second_try && isStaleConnection(outcome));
    if (is_reused && !this.#is_stopping && may_go_on) {
      // The relay has closed a connection that was idle, so probably the other idle ones as well.
      for (const idle of this.#idle.splice(0)) idle.session.close();
      this.#waiting.unshift({ ...mail, is_second_try: true });
    } else {
      mail.resolve(outcome);
      if (outcome.outcome !== 'sent') await session.reset();
    }
    this.#release(session, true);
  }

  #release(session: SmtpSession, is_reused: boolean): void {
    if (session.isClosed) {
      this.#dispatch();
    } else if (this.#is_stopping) {
      session.quit();
    } else {
      this.#idle.push({ session, since_ms: monotonicMs(), is_reused });
      this.#sweeper ??= setInterval(() => this.#closeIdle(), this.#terms.deadlines.idle_ms / 2);
      this.#dispatch();
    }
  }

  #closeIdle(): void {
    const closes_at = monotonicMs() - this.#terms.deadlines.idle_ms;
    while (this.#idle[0] && this.#idle[0].since_ms <= closes_at) this.#idle.shift()?.session.quit();
  }

  #forget(session: SmtpSession): void {
    this.#live.delete(session);
    this.#last_end_ms = monotonicMs();
    const index = this.#idle.findIndex((idle) => idle.session === session);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#live.size === 0) this.#max_live = SMTP_CONNECTIONS_PER_MAILBOX;
    this.#dispatch();
    this.#reportIfEmpty();
  }

  #answerWaiting(outcome: DeliveryOutcome): void {
    for (const mail of this.#waiting.splice(0)) mail.resolve(outcome);
  }

  #reportIfEmpty(): void {
    if (this.#live.size + this.#opening + this.#waiting.length > 0) return;
    if (this.#sweeper) clearInterval(this.#sweeper);
    this.#sweeper = null;
    this.#onEmpty();
  }
}

/**
 * The relay takes no further mail over this connection. A 421 to the sender, which all mails of a pool share,
 * is about no mail in particular. So it costs none its attempt, however many used-up connections it meets:
 * each has just served another mail, and a fresh one's answer counts.
 */
function isUsedUp(outcome: DeliveryOutcome): boolean {
  return outcome.outcome === 'unreachable' && outcome.stage === 'mail' && outcome.smtp_code === 421;
}

/** The connection was lost before the content, not because of the mail: another connection may send it. */
function isStaleConnection(outcome: DeliveryOutcome): boolean {
  if (outcome.outcome === 'sent' || outcome.stage === 'data' || outcome.stage === 'compose') return false;
  return outcome.smtp_code === null || outcome.smtp_code === 421;
}
