/** A campaign made of a seed: sequences, contacts, and whatever may happen to them, each step of it held against the oracle. */
import { LOOK_AGAIN_MS } from '../../../src/marketing/campaign-engine.ts';
import { actor } from '../../support/helpers.ts';
import { TestClock } from '../../support/temp.ts';
import { BROWSER } from '../mails/setup.ts';
import { dataOf, rowsOf } from '../settings/setup.ts';
import {
  type Condition,
  type Contact,
  dueAt,
  type Enrollment,
  HOUR_MS,
  holds,
  isOpen,
  type Mail,
  Oracle,
  type Place,
  placeOf,
  type Sequence,
  type Step,
} from './oracle.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const EVENTS = ['ordered', 'visited', 'paid'];
const DELAYS = [0, 0, 1, 2, 5, 12, 24, 48, 72];
/** Longer than scanners take: a click counts after it. */
const CLICK_MS = 10_500;
const MINUTE_MS = 60_000;

/** Around changes of daylight saving, and none. */
const PLACES: [zone: string, start: string][] = [
  ['Europe/Berlin', '2030-03-29T18:30:00Z'],
  ['Europe/Berlin', '2030-10-25T20:15:00Z'],
  ['America/New_York', '2030-03-09T01:00:00Z'],
  ['Australia/Lord_Howe', '2030-10-04T12:00:00Z'],
  ['Asia/Kolkata', '2030-12-30T17:45:00Z'],
  ['UTC', '2030-02-27T09:00:00Z'],
];
const WINDOWS: [string | null, string | null][] = [
  [null, null],
  ['09:00', '17:00'],
  ['22:00', '06:00'],
  ['02:30', '02:45'],
  ['02:30', '04:00'],
  ['23:30', '00:15'],
];

/** Numbers from 0 to below 1 that a seed gives again (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Dice {
  readonly #next: () => number;
  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }
  /** From 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.#next() * n);
  }
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
  one<T>(of: readonly T[]): T {
    const chosen = of[this.below(of.length)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }
  some<T>(of: readonly T[], percent: number): T[] {
    return of.filter(() => this.chance(percent));
  }
}

function randomCondition(dice: Dice, depth = 0): Condition {
  const type = dice.one(['always', 'always', 'clicked', 'not_clicked', 'event', 'no_event', 'all'] as const);
  if (type === 'event' || type === 'no_event') return { type, event: dice.one(EVENTS) };
  if (type !== 'all') return { type };
  if (depth > 1) return { type: 'always' };
  return { type, of: [randomCondition(dice, depth + 1), randomCondition(dice, depth + 1)] };
}

/** Tracks lead to later ones alone: a circle would come to the same step again. */
function randomSteps(dice: Dice, name: string): Step[] {
  const tracks = ['main', 'late', 'last'].slice(0, 1 + dice.below(3));
  return tracks.flatMap((track, n) => {
    const count = 1 + dice.below(4);
    return Array.from({ length: count }, (_, position): Step => {
      const ways = ['skip', 'exit', ...tracks.slice(n + 1).map((route_to) => ({ route_to }))] as const;
      const otherwise = dice.one(ways) as 'skip' | 'exit' | { route_to: string };
      const condition = randomCondition(dice);
      return {
        ...{ key: `${name}-${track}-${position}`, track, is_final: position === count - 1 },
        template: dice.chance(12) ? 'custom' : 'plain',
        delay_hours: dice.one(DELAYS),
        condition: otherwise === 'skip' && dice.chance(50) ? condition : { ...condition, else: otherwise },
      };
    });
  });
}

interface Running extends Sequence {
  id: string;
  takes_new: boolean;
  enroll_tags: string[];
}

interface Known extends Contact {
  id: string;
}

export class Campaign {
  readonly #dice: Dice;
  readonly #on: SequenceApp;
  readonly #oracle: Oracle;
  #list = '';
  readonly #sequences: Running[] = [];
  readonly #contacts: Known[] = [];
  #last_row = 0;
  /** What happened, for whoever has to understand a difference. */
  readonly story: string[] = [];

  private constructor(dice: Dice, on: SequenceApp, oracle: Oracle) {
    this.#dice = dice;
    this.#on = on;
    this.#oracle = oracle;
  }

  /** Throws, with the story, where Satchel does not do what it must. */
  static async run(seed: number): Promise<void> {
    const dice = new Dice(seed);
    const [timezone, start] = dice.one(PLACES);
    const [send_window_start, send_window_end] = dice.one(WINDOWS);
    const rules = {
      ...{ send_window_start, send_window_end, timezone },
      daily_cap: dice.chance(40) ? 1 + dice.below(4) : null,
      mailbox_limit: dice.chance(25) ? 1 + dice.below(6) : null,
    };
    const on = await startSequenceApp({ clock: new TestClock(start) });
    const campaign = new Campaign(dice, on, new Oracle(rules));
    try {
      await campaign.#prepare();
      for (let n = 0; n < 45; n += 1) await campaign.#act();
      await campaign.#toTheEnd();
      await campaign.#compareStatistics();
    } catch (error) {
      throw new Error(`seed ${seed}: ${error}\n${campaign.story.join('\n')}`, { cause: error });
    } finally {
      await on.app.stop();
    }
  }

  async #prepare(): Promise<void> {
    const { rules } = this.#oracle;
    const { mailbox_limit, ...settings } = rules;
    if (mailbox_limit !== null)
      await this.#on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
        daily_limit: mailbox_limit,
      });
    await this.#settings(settings);
    await this.#on.template('plain', { subject: '{{key}}', body_html: LINKS });
    await this.#on.template('custom', { subject: '{{key}}', body_html: `${LINKS}{{custom.plan}}` });
    this.#list = await this.#on.list();
    for (let n = 2 + this.#dice.below(5); n > 0; n -= 1) await this.#addContact();
    for (let n = 1 + this.#dice.below(2); n > 0; n -= 1) await this.#addSequence();
    for (const sequence of this.#sequences) await this.#enroll(sequence);
  }

  async #settings(settings: Partial<Oracle['rules']>): Promise<void> {
    this.#tell('settings', settings);
    Object.assign(this.#oracle.rules, settings);
    dataOf(await this.#on.call('PATCH', '/email-marketing/settings', settings));
    await this.#pass();
  }

  async #addSequence(): Promise<void> {
    const dice = this.#dice;
    const name = `s${this.#sequences.length}`;
    const steps = randomSteps(dice, name);
    const exit_events = dice.some(EVENTS, 20);
    const fields = { auto_enroll_new_contacts: dice.chance(50), enroll_tags: dice.some(['a', 'b'], 40) };
    const id = await this.#on.active(
      this.#list,
      steps.map((step) => this.#asSent(step)),
      { ...{ name, exit_events }, ...fields },
    );
    const { auto_enroll_new_contacts: takes_new, enroll_tags } = fields;
    this.#sequences.push({ ...{ id, name, steps, exit_events, takes_new, enroll_tags }, status: 'active' });
    this.#tell('sequence', this.#sequences.at(-1));
  }

  #asSent(step: Step) {
    return { ...step, variables: { key: step.key } };
  }

  #tell(what: string, about: unknown = ''): void {
    this.story.push(`${new Date(this.#on.app.clock.now()).toISOString()} ${what} ${JSON.stringify(about)}`);
  }

  /* --- What happens ----------------------------------------------------------------------------------------------- */

  async #act(): Promise<void> {
    const actions: [weight: number, action: () => Promise<void>][] = [
      [20, () => this.#move(this.#dice.below(12 * 60) * MINUTE_MS)],
      [12, () => this.#moveToDue(0)],
      [6, () => this.#moveToDue(-1)],
      [8, () => this.#moveToOpening()],
      [3, () => this.#move(-this.#dice.below(40 * 60) * MINUTE_MS)],
      [2, () => this.#move((24 + this.#dice.below(200)) * HOUR_MS)],
      [12, () => this.#event()],
      [12, () => this.#click()],
      [2, () => this.#leave()],
      [4, () => this.#pauseOrResume()],
      [3, () => this.#changeDelays()],
      [3, () => this.#addContact()],
      [3, () => this.#enroll(this.#dice.one(this.#sequences))],
      [1, () => this.#changeWindow()],
      [1, () => this.#finish()],
    ];
    let drawn = this.#dice.below(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, action] of actions) {
      drawn -= weight;
      if (drawn < 0) return action();
    }
  }

  async #move(ms: number): Promise<void> {
    this.#on.app.clock.advance(ms);
    this.#tell('the clock moves by hours', ms / HOUR_MS);
    await this.#pass();
  }

  async #moveToDue(offset_ms: number): Promise<void> {
    const now = this.#on.app.clock.now();
    const waiting = this.#oracle.enrollments.filter(({ state }) => state === 'active').map(dueAt);
    const later = waiting.filter((at) => at + offset_ms > now);
    if (later.length > 0) await this.#move(this.#dice.one(later) + offset_ms - now);
  }

  /** To the minute at which the window opens, or a millisecond before. */
  async #moveToOpening(): Promise<void> {
    const now = this.#on.app.clock.now();
    let at = now - (now % MINUTE_MS);
    for (let n = 0; n < 4 * 24 * 60; n += 1) {
      at += MINUTE_MS;
      if (isOpen(this.#oracle.rules, at) && !isOpen(this.#oracle.rules, at - MINUTE_MS))
        return this.#move(at - now - (this.#dice.chance(30) ? 1 : 0));
    }
  }

  async #addContact(): Promise<void> {
    const email = `c${this.#contacts.length}@example.com`;
    const tags = this.#dice.some(['a', 'b'], 50);
    const has_plan = this.#dice.chance(60);
    this.#tell('contact', { email, tags, has_plan });
    const custom = has_plan ? { plan: 'pro' } : {};
    const { id } = await this.#on.contact(this.#list, email, { tags, custom });
    const contact = {
      ...{ id: String(id), email, tags, has_plan, is_active: true, is_suppressed: false },
      events: new Map(),
    };
    this.#contacts.push(contact);
    this.#oracle.now = this.#on.app.clock.now();
    for (const sequence of this.#sequences) {
      const is_meant =
        sequence.enroll_tags.length === 0 || sequence.enroll_tags.some((tag) => tags.includes(tag));
      if (sequence.takes_new && is_meant && sequence.status !== 'finished')
        this.#oracle.enroll(sequence, contact);
    }
    await this.#pass();
  }

  async #enroll(sequence: Running): Promise<void> {
    const meant = this.#dice.one(['all', 'tags', 'some'] as const);
    const chosen =
      meant === 'all'
        ? this.#contacts
        : meant === 'tags'
          ? this.#contacts.filter(({ tags }) => tags.includes('a'))
          : [this.#dice.one(this.#contacts)];
    const body = {
      all: { all: true },
      tags: { tags: ['a'] },
      some: { contact_ids: chosen.map(({ id }) => id) },
    };
    this.#tell('enroll', { sequence: sequence.name, meant, chosen: chosen.map(({ email }) => email) });
    if (sequence.status === 'finished') {
      const refused = await this.#on.call('POST', `/email-sequences/${sequence.id}/enroll`, body[meant]);
      if (refused.status !== 409) throw new Error(`a finished sequence enrolls: ${refused.text}`);
      return;
    }
    const told = await this.#on.enroll(sequence.id, body[meant]);
    const counts = { enrolled: 0, already: 0, refused_suppressed: 0, refused_status: 0 };
    this.#oracle.now = this.#on.app.clock.now();
    for (const contact of chosen) {
      const is_known = this.#oracle.enrollments.some(
        (each) => each.sequence === sequence && each.contact === contact,
      );
      if (is_known) counts.already += 1;
      else if (contact.is_suppressed) counts.refused_suppressed += 1;
      else if (!contact.is_active) counts.refused_status += 1;
      else {
        counts.enrolled += 1;
        this.#oracle.enroll(sequence, contact);
      }
    }
    same('enroll', told, counts);
    await this.#pass();
  }

  async #event(): Promise<void> {
    const contact = this.#dice.one(this.#contacts);
    const event = this.#dice.one(EVENTS);
    const now = this.#on.app.clock.now();
    const at = this.#dice.chance(30) ? now - this.#dice.below(60) * HOUR_MS : now;
    this.#tell('event', { email: contact.email, event, at: new Date(at) });
    const is_known = contact.events.has(event);
    const { status } = await this.#on.call('POST', '/email-contacts/events', {
      ...{ email: contact.email, list: this.#list, event },
      ...(at === now ? {} : { occurred_at: new Date(at).toISOString() }),
    });
    same('status of an event', status, is_known ? 200 : 201);
    this.#oracle.now = now;
    this.#oracle.event(contact, event, at);
    await this.#pass();
  }

  /** Only one link of the mail, asked for by GET with a browser, is a person. */
  async #click(): Promise<void> {
    const read = this.#oracle.enrollments.filter(({ mails }) => mails.length > 0);
    if (read.length === 0) return;
    const { mails } = this.#dice.one(read);
    const mail = this.#dice.chance(75) ? mails.at(-1) : this.#dice.one(mails);
    if (!mail) return;
    const who = this.#dice.one(['person', 'person', 'person', 'head', 'robot', 'burst'] as const);
    this.#tell('click', { who, mail: mail.id, key: mail.key });
    const { raw } = await this.#on.app.services.deliveries.readCaptured(mail.id);
    const html = raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=');
    const found = [...new Set(html.match(/(?<=http:\/\/satchel\.test)\/c\/[0-9a-z-]+/g))];
    same('links', found.length, 3);
    // The last one is for scanners: no person sees it.
    const links = found.slice(0, 2);
    for (const link of who === 'burst' ? links : links.slice(0, 1)) {
      const headers = { 'User-Agent': who === 'robot' ? 'curl/8.5.0' : BROWSER };
      const { status } = await this.#on.app.call(who === 'head' ? 'HEAD' : 'GET', link, { headers });
      same('status of a click', status, 302);
    }
    const { clicks } = this.#on.app.services;
    await clicks.settle();
    await this.#pass();
    this.#on.app.clock.advance(CLICK_MS);
    await clicks.settle();
    if (who === 'person') mail.is_clicked = true;
    await this.#pass();
  }

  async #leave(): Promise<void> {
    const contact = this.#dice.one(this.#contacts);
    if (contact.is_suppressed) return;
    const mail = this.#oracle.enrollments.find((each) => each.contact === contact && each.mails.length > 0)
      ?.mails[0];
    const how = this.#dice.one(['unsubscribed', 'suppressed', 'bounced', 'complained'] as const);
    if (!mail && (how === 'bounced' || how === 'complained')) return;
    this.#tell('leaves', { email: contact.email, how });
    if (how === 'unsubscribed') await this.#on.call('POST', `/email-contacts/${contact.id}/unsubscribe`);
    else if (how === 'suppressed')
      await this.#on.call('POST', '/email-suppressions', { email: contact.email });
    else await this.#on.app.services.deliveries.reportByHand(actor, mail?.id ?? '', { kind: how });
    contact.is_suppressed = true;
    for (const each of this.#oracle.enrollments) if (each.contact === contact) this.#oracle.end(each, how);
    await this.#pass();
  }

  async #pauseOrResume(): Promise<void> {
    const sequence = this.#dice.one(this.#sequences);
    if (sequence.status !== 'finished')
      await this.#turn(sequence, sequence.status === 'active' ? 'pause' : 'resume');
  }

  async #turn(sequence: Running, verb: 'pause' | 'resume' | 'finish'): Promise<void> {
    this.#tell(verb, sequence.name);
    dataOf(await this.#on.call('POST', `/email-sequences/${sequence.id}/${verb}`));
    sequence.status = ({ pause: 'paused', resume: 'active', finish: 'finished' } as const)[verb];
    await this.#pass();
  }

  async #finish(): Promise<void> {
    const sequence = this.#dice.one(this.#sequences);
    if (sequence.status === 'finished') return;
    for (const each of this.#oracle.enrollments)
      if (each.sequence === sequence) this.#oracle.end(each, 'sequence_finished');
    await this.#turn(sequence, 'finish');
  }

  async #changeDelays(): Promise<void> {
    const sequence = this.#dice.one(this.#sequences);
    if (sequence.status === 'finished') return;
    for (const step of sequence.steps) if (this.#dice.chance(40)) step.delay_hours = this.#dice.one(DELAYS);
    this.#tell(
      'delays',
      Object.fromEntries(sequence.steps.map(({ key, delay_hours }) => [key, delay_hours])),
    );
    const steps = sequence.steps.map((step) => this.#asSent(step));
    dataOf(await this.#on.call('PATCH', `/email-sequences/${sequence.id}`, { steps }));
    await this.#pass();
  }

  async #changeWindow(): Promise<void> {
    const [send_window_start, send_window_end] = this.#dice.one(WINDOWS);
    await this.#settings({ send_window_start, send_window_end });
  }

  /** Without window and cap, and with time enough, everybody comes to an end. */
  async #toTheEnd(): Promise<void> {
    for (const sequence of this.#sequences)
      if (sequence.status === 'paused') await this.#turn(sequence, 'resume');
    await this.#settings({ send_window_start: null, send_window_end: null, daily_cap: null });
    this.#on.app.clock.at_ms = Math.max(this.#oracle.latest, this.#oracle.now);
    for (let day = 0; day < 200; day += 1) {
      if (this.#oracle.enrollments.every(({ state }) => state !== 'active')) return;
      await this.#move(24 * HOUR_MS);
    }
    throw new Error('some never come to an end');
  }

  /* --- What must be ------------------------------------------------------------------------------------------------ */

  /** Lets all that is due happen, and holds it against the oracle. */
  async #pass(is_again = false): Promise<void> {
    const { app } = this.#on;
    await this.#on.pass();
    const oracle = this.#oracle;
    oracle.now = app.clock.now();
    oracle.latest = Math.max(oracle.latest, oracle.now);
    const sent = this.#newMails();
    const places = await this.#places();
    for (const each of oracle.enrollments) {
      const name = nameOf(each);
      oracle.follow(each, sent.get(name) ?? [], places.get(name));
      sent.delete(name);
      same(`the place of ${name}`, places.get(name), placeOf(each));
    }
    if (sent.size > 0) throw new Error(`mail without an enrollment: ${[...sent.keys()]}`);
    const late = this.#late();
    if (late.length === 0) return;
    if (is_again) throw new Error(`nothing keeps back ${late.map(nameOf)}`);
    // A sequence that had to wait looks again each minute.
    this.#tell('are late', late.map(nameOf));
    app.clock.advance(LOOK_AGAIN_MS);
    await this.#pass(true);
  }

  /** Who is due without a reason to wait. A mail that must wait keeps back what is due in its sequence, too. */
  #late(): Enrollment[] {
    const oracle = this.#oracle;
    const due = oracle.enrollments.filter((each) => oracle.isDue(each));
    if (oracle.now < oracle.latest) return [];
    if (!oracle.isShut()) return due;
    const waiting = new Set(
      due.filter((each) => holds(each.step.condition, each)).map(({ sequence }) => sequence),
    );
    return due.filter(({ sequence }) => !waiting.has(sequence));
  }

  /** By whom it went to. */
  #newMails(): Map<string, Mail[]> {
    const rows = this.#on.app.services.database.read.$client
      .query<
        Record<'id' | 'to_email' | 'subject' | 'status', string> &
          Record<'rowid' | 'created_at', number> & { sent_at: number | null },
        [number]
      >(
        `SELECT rowid, id, to_email, subject, status, created_at, sent_at FROM emails
          WHERE source = 'sequence' AND rowid > ? ORDER BY rowid`,
      )
      .all(this.#last_row);
    const found = new Map<string, Mail[]>();
    for (const row of rows) {
      this.#last_row = row.rowid;
      this.#tell('sent', [row.to_email, row.subject, row.id]);
      const at = this.#oracle.now;
      same('a mail', [row.created_at, row.sent_at, row.status], [at, at, 'sent']);
      const name = `${row.subject.split('-')[0]} ${row.to_email}`;
      const mail = { id: row.id, key: row.subject, at, is_clicked: false };
      found.set(name, [...(found.get(name) ?? []), mail]);
    }
    return found;
  }

  async #places(): Promise<Map<string, Place>> {
    const found = new Map<string, Place>();
    for (const { id, name } of this.#sequences)
      for (const row of rowsOf(await this.#on.call('GET', `/email-sequences/${id}/enrollments?per_page=50`)))
        found.set(`${name} ${row.email}`, {
          state: row.state as Enrollment['state'],
          exit_reason: row.exit_reason as string | null,
          ...(row.state === 'active' ? { track: String(row.track), step: String(row.step) } : {}),
        });
    return found;
  }

  async #compareStatistics(): Promise<void> {
    for (const sequence of this.#sequences) {
      const of = this.#oracle.enrollments.filter((each) => each.sequence === sequence);
      const mails = of.flatMap((each) => each.mails);
      const shown = dataOf(await this.#on.call('GET', `/email-sequences/${sequence.id}`));
      const stats = shown.stats as Record<string, number>;
      const inState = (state: Enrollment['state']) => of.filter((each) => each.state === state).length;
      const { enrolled, active, completed, exited, failed, sent, clicked } = stats;
      same(
        `the statistics of ${sequence.name}`,
        { enrolled, active, completed, exited, failed, sent, clicked },
        {
          ...{ enrolled: of.length, active: 0, completed: inState('completed') },
          ...{ exited: inState('exited'), failed: inState('failed'), sent: mails.length },
          clicked: mails.filter(({ is_clicked }) => is_clicked).length,
        },
      );
      const steps = shown.steps as { key: string; stats: Record<string, number> }[];
      for (const { key, stats: of_step } of steps) {
        const got = mails.filter((mail) => mail.key === key);
        same(
          `the statistics of ${key}`,
          { sent: of_step.sent, clicked: of_step.clicked },
          {
            sent: got.length,
            clicked: got.filter(({ is_clicked }) => is_clicked).length,
          },
        );
      }
    }
  }
}

const LINKS = '<p><a href="https://shop.example.com/a">a</a> <a href="https://shop.example.com/b">b</a></p>';

const nameOf = ({ sequence, contact }: Enrollment): string => `${sequence.name} ${contact.email}`;

function same(what: string, actual: unknown, expected: unknown): void {
  if (!Bun.deepEquals(actual, expected))
    throw new Error(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}
