/**
 * What sequences must do, written down a second time and as plainly as possible: no queue, no index, no transaction. It is asked
 * after each thing that happened, is told what was sent since, and throws where that is not what had to come.
 */

export type Condition =
  | { type: 'always' | 'clicked' | 'not_clicked' }
  | { type: 'event' | 'no_event'; event: string }
  | { type: 'all'; of: Condition[] };

export interface Step {
  key: string;
  track: string;
  template: string;
  delay_hours: number;
  is_final: boolean;
  condition: Condition & { else?: 'skip' | 'exit' | { route_to: string } };
}

export interface Sequence {
  name: string;
  steps: Step[];
  exit_events: string[];
  status: 'active' | 'paused' | 'finished';
}

export interface Contact {
  email: string;
  tags: string[];
  is_active: boolean;
  /** Has what the template `custom` merges. */
  has_plan: boolean;
  is_suppressed: boolean;
  /** When each event happened; the last time counts. */
  events: Map<string, number>;
}

export interface Mail {
  id: string;
  /** Of a step. */
  key: string;
  at: number;
  is_clicked: boolean;
}

export interface Enrollment {
  sequence: Sequence;
  contact: Contact;
  entered_at: number;
  state: 'active' | 'completed' | 'exited' | 'failed';
  exit_reason: string | null;
  step: Step;
  /** What the delay of `step` counts from. */
  since: number;
  mails: Mail[];
}

export interface Rules {
  send_window_start: string | null;
  send_window_end: string | null;
  timezone: string;
  daily_cap: number | null;
  /** Of the one mailbox, a UTC day. */
  mailbox_limit: number | null;
}

export const HOUR_MS = 3_600_000;

export function isOpen(rules: Rules, at: number): boolean {
  const { send_window_start: start, send_window_end: end, timezone: timeZone } = rules;
  if (start === null || end === null) return true;
  const time = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  }).format(at);
  return start < end ? start <= time && time < end : start <= time || time < end;
}

export function holds(condition: Condition, of: Enrollment): boolean {
  const has = (event: string) => (of.contact.events.get(event) ?? Number.NEGATIVE_INFINITY) >= of.entered_at;
  const is_clicked = of.mails.at(-1)?.is_clicked ?? false;
  switch (condition.type) {
    case 'always':
      return true;
    case 'clicked':
      return is_clicked;
    case 'not_clicked':
      return !is_clicked;
    case 'event':
      return has(condition.event);
    case 'no_event':
      return !has(condition.event);
    default:
      return condition.of.every((part) => holds(part, of));
  }
}

/** Where an enrollment is, as far as it can be seen. */
export type Place = Pick<Enrollment, 'state' | 'exit_reason'> & { track?: string; step?: string };

export function placeOf({ state, exit_reason, step }: Enrollment): Place {
  return { state, exit_reason, ...(state === 'active' ? { track: step.track, step: step.key } : {}) };
}

export const dueAt = ({ since, step }: Enrollment): number => since + step.delay_hours * HOUR_MS;

export class Oracle {
  now = 0;
  /** The latest that the clock ever said: behind it, what is due may wait until time has caught up. */
  latest = 0;
  readonly enrollments: Enrollment[] = [];
  readonly #sent_by_day = new Map<string, number>();

  constructor(readonly rules: Rules) {}

  enroll(sequence: Sequence, contact: Contact): void {
    const [step] = sequence.steps;
    if (!step) throw new Error('a sequence without steps');
    this.enrollments.push({
      ...{ sequence, contact, entered_at: this.now, state: 'active', exit_reason: null },
      ...{ step, since: this.now, mails: [] },
    });
  }

  end(enrollment: Enrollment, exit_reason: string): void {
    if (enrollment.state === 'active') Object.assign(enrollment, { state: 'exited', exit_reason });
  }

  event(contact: Contact, event: string, at: number): void {
    if (at <= (contact.events.get(event) ?? Number.NEGATIVE_INFINITY)) return;
    contact.events.set(event, at);
    for (const each of this.enrollments)
      if (each.contact === contact && each.sequence.exit_events.includes(event) && at >= each.entered_at)
        this.end(each, 'event');
  }

  sentToday(): number {
    return this.#sent_by_day.get(this.#day()) ?? 0;
  }

  /** Whether no mail may go now: the window is closed, or cap or mailbox are used up. */
  isShut(): boolean {
    const { daily_cap, mailbox_limit } = this.rules;
    return (
      !isOpen(this.rules, this.now) ||
      this.sentToday() >= Math.min(daily_cap ?? Infinity, mailbox_limit ?? Infinity)
    );
  }

  isDue(enrollment: Enrollment): boolean {
    const is_running = enrollment.state === 'active' && enrollment.sequence.status === 'active';
    return is_running && dueAt(enrollment) <= this.now;
  }

  /** Takes an enrollment on by what was sent to it and where it is said to be now; from there on it may yet be due. */
  follow(enrollment: Enrollment, sent: Mail[], told: Place | undefined): void {
    while (this.isDue(enrollment) && (sent.length > 0 || !Bun.deepEquals(placeOf(enrollment), told)))
      if (this.#isStopped(enrollment, sent)) break;
    if (sent.length > 0) throw new Error(`${sent.map(({ key }) => key)} must not be sent now`);
  }

  /** One step on; true where that would take a mail, and none was sent. */
  #isStopped(enrollment: Enrollment, sent: Mail[]): boolean {
    const { step, contact } = enrollment;
    if (!holds(step.condition, enrollment)) this.#otherwise(enrollment);
    else if (step.template === 'custom' && !contact.has_plan) enrollment.state = 'failed';
    else {
      const mail = sent.shift();
      if (mail === undefined) return true;
      if (mail.key !== step.key) throw new Error(`${mail.key} was sent instead of ${step.key}`);
      if (this.isShut()) throw new Error(`${mail.key} was sent outside the window or past a limit`);
      this.#sent_by_day.set(this.#day(), this.sentToday() + 1);
      enrollment.mails.push(mail);
      enrollment.since = this.now;
      this.#goOn(enrollment);
    }
    return false;
  }

  #otherwise(enrollment: Enrollment): void {
    const { else: otherwise = 'skip' } = enrollment.step.condition;
    // What follows a skipped step counts from what that step counted from: the last sending, the enrollment or the route.
    if (otherwise === 'skip') this.#goOn(enrollment);
    else if (otherwise === 'exit') this.end(enrollment, 'condition');
    else {
      enrollment.since = this.now;
      const first = enrollment.sequence.steps.find(({ track }) => track === otherwise.route_to);
      if (!first) throw new Error('a route to nowhere');
      enrollment.step = first;
    }
  }

  #goOn(enrollment: Enrollment): void {
    const { step, sequence } = enrollment;
    const track = sequence.steps.filter((each) => each.track === step.track);
    const next = track[track.indexOf(step) + 1];
    if (step.is_final || !next) enrollment.state = 'completed';
    else enrollment.step = next;
  }

  #day(): string {
    return new Date(this.now).toISOString().slice(0, 10);
  }
}
