/** Events of mails that came by Mailgun's API: each is written with what it tells of, later than all before it, and never changes. */
import { findCall } from '../../mail/apps/service.ts';
import type { EmailEvent } from '../../mail/deliveries/service.ts';
import { type EmailRow, emailLife, sentMails } from '../../mail/emails/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import type { Reading } from '../mails/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { SuppressionKind, Suppressions } from '../suppressions/service.ts';
import { pagesBeside, type Question, spanOf } from './pages.ts';
import * as store from './store.ts';
import type { MailgunEvent, MailgunEventRow } from './tables.ts';

/** Events that are looked at before others have their turn: a few milliseconds. */
const LOOKED_AT = 300;

/** What tells of a suppression, by its kind; Ghost marks its members by the codes. */
const SUPPRESSED = {
  hard_bounce: {
    code: 605,
    reason: 'suppress-bounce',
    words: 'Not delivering to previously bounced address',
  },
  complaint: {
    code: 607,
    reason: 'suppress-complaint',
    words: 'Not delivering to a user who marked your messages as spam',
  },
  unsubscribed: {
    code: 606,
    reason: 'suppress-unsubscribe',
    words: 'Not delivering to unsubscribed address',
  },
} as const;

interface EventsDeps {
  database: Database;
  clock: Clock;
  suppressions: Pick<Suppressions, 'checker'>;
  projectOf(id: number): KeyOwner | null;
  /** What a mail server said last of a mail that it refused because of us. */
  wordsOfRefusal(read: Tx, email_id: string): string | null;
}

/** An event with its mail. */
interface ToldEvent extends MailgunEventRow {
  email: EmailRow;
}

/** What an event says besides what it is. */
type Details = Pick<MailgunEventRow, 'is_permanent' | 'reason' | 'code' | 'words'>;
const NO_DETAILS: Details = { is_permanent: null, reason: null, code: null, words: null };

export class MailgunEvents {
  constructor(private readonly deps: EventsDeps) {}

  /** Notes that mails were accepted in a call under a domain, within its transaction. */
  accepted(tx: Tx, of: { project_id: number; domain: string }, email_ids: readonly string[]): void {
    let at = this.#nextAt(tx, of.project_id, of.domain);
    for (const email_id of email_ids) {
      store.insertEvent(tx, { ...of, at, email_id, event: 'accepted', ...NO_DETAILS });
      at += 1;
    }
  }

  /** Told of what became of a mail, in the transaction that records it. */
  onMail(tx: Tx, { kind, email_id, project_id, address, is_report_of_copy }: EmailEvent): void {
    if (is_report_of_copy) return;
    const add = (event: MailgunEvent, details = NO_DETAILS): void =>
      this.#add(tx, project_id, email_id, event, details);
    const replied = this.#repliedTo(tx, email_id);
    if (kind === 'sent') add('delivered', replied);
    if (kind === 'complained' || kind === 'unsubscribed') add(kind);
    if (kind === 'deferred' || kind === 'soft_bounced')
      add('failed', { ...replied, is_permanent: false, reason: 'generic' });
    if (kind === 'bounced') add('failed', { ...replied, is_permanent: true, reason: 'bounce' });
    if (kind === 'failed') add('failed', { ...replied, is_permanent: true, reason: 'generic' });
    if (kind === 'refused') {
      // The log says that its relay took it.
      const words = this.deps.wordsOfRefusal(tx, email_id);
      add('failed', { is_permanent: true, reason: 'generic', code: null, words });
    }
    if (kind === 'withheld') add('failed', this.#whySuppressed(tx, project_id, address));
  }

  /** Told of the first opening of a mail. */
  onReading(tx: Tx, { kind, email_id }: Reading): void {
    const email = kind === 'opened' ? emailLife.find(tx, email_id) : null;
    if (email) this.#add(tx, email.project_id, email_id, 'opened', NO_DETAILS);
  }

  /** When the last event of a domain was written; 0 where there is none. */
  lastAt(project_id: number, domain: string): number {
    return store.findLastAt(this.deps.database.read, project_id, domain);
  }

  /** A page of events, and the pages beside it. */
  async page(of: { project_id: number; domain: string }, question: Question) {
    const found = await this.#find(of, question);
    const first = found[0]?.at;
    const last = found.at(-1)?.at;
    const held = first === undefined || last === undefined ? null : { first, last };
    return { items: found.map((event) => this.#present(event)), pages: pagesBeside(question, held) };
  }

  /** Events as a holder of an address's data, which are of its mails. */
  holderOfAddresses(): AddressHolder {
    const { database } = this.deps;
    return {
      name: 'mailgun_events',
      *find({ id: project_id }, email) {
        for (const ids of sentMails.idsOfAddress(database, { project_id, email }))
          yield ids
            .filter((id) => store.findDomain(database.read, id) !== null)
            .map((id) => ({
              show: () => store.listEventsOf(database.read, id),
              forget: (tx: Tx) => void store.deleteEventsOf(tx, id),
            }));
      },
    };
  }

  /** Later than all that were written before under a domain, whatever the clock says. */
  #nextAt(tx: Tx, project_id: number, domain: string): number {
    return Math.max(this.deps.clock.now() * 1_000, store.findLastAt(tx, project_id, domain) + 1);
  }

  #add(tx: Tx, project_id: number, email_id: string, event: MailgunEvent, details: Details): void {
    const domain = store.findDomain(tx, email_id);
    if (domain === null) return;
    const at = this.#nextAt(tx, project_id, domain);
    store.insertEvent(tx, { project_id, domain, at, email_id, event, ...details });
  }

  /** What a relay, or a report, said last of a mail. */
  #repliedTo(tx: Tx, email_id: string): Details {
    const email = emailLife.find(tx, email_id);
    const { smtp_code = null, smtp_response = null, error = null } = email ?? {};
    return { ...NO_DETAILS, code: smtp_code, words: smtp_response ?? error };
  }

  #whySuppressed(tx: Tx, project_id: number, address: string): Details {
    const owner = this.deps.projectOf(project_id);
    const kind: SuppressionKind | null =
      owner && this.deps.suppressions.checker(tx, owner)(address.toLowerCase());
    return {
      ...SUPPRESSED[kind === 'hard_bounce' || kind === 'complaint' ? kind : 'unsubscribed'],
      is_permanent: true,
    };
  }

  /** The events of a page, in the order of its question; others have their turn in between. */
  async #find(of: { project_id: number; domain: string }, question: Question): Promise<ToldEvent[]> {
    const span = spanOf(question);
    const { limit } = question;
    const found: ToldEvent[] = [];
    const isAsked = this.#filterOf(question);
    for (;;) {
      const piece = store.listEvents(this.deps.database.read, { ...of, ...span }, LOOKED_AT);
      for (const event of piece) {
        const email = emailLife.find(this.deps.database.read, event.email_id);
        if (email && found.length < limit && isAsked({ ...event, email })) found.push({ ...event, email });
      }
      const last = piece.at(-1)?.at;
      if (piece.length < LOOKED_AT || found.length === limit || last === undefined) break;
      if (span.is_ascending) span.after = last;
      else span.until = last - 1;
      await letOthers();
    }
    return span.is_ascending === question.is_ascending ? found : found.reverse();
  }

  #filterOf({ events, tags, recipient, message_id }: Question): (event: ToldEvent) => boolean {
    const by_call = new Map<string, boolean>();
    const hasTags = (call_id: string): boolean => {
      const known = by_call.get(call_id) ?? tags.every((tag) => this.#callOf(call_id).tags.includes(tag));
      by_call.set(call_id, known);
      return known;
    };
    return (one) =>
      (events.length === 0 || events.includes(one.event)) &&
      (recipient === null || one.email.to_email.toLowerCase() === recipient) &&
      (message_id === null || bareId(one.email.message_id) === message_id) &&
      (tags.length === 0 || hasTags(one.email.call_id ?? ''));
  }

  #callOf(call_id: string): ReturnType<typeof callExtra> {
    return callExtra(findCall(this.deps.database.read, call_id)?.extra ?? {});
  }

  #present(told: ToldEvent) {
    const { at, event, is_permanent, reason, code, words, email } = told;
    const { from_email, from_name, to_email, subject } = email;
    const { tags, variables } = this.#callOf(email.call_id ?? '');
    const from = from_name === null ? from_email : `${from_name} <${from_email}>`;
    return {
      id: `${told.email_id.toLowerCase()}-${at.toString(36)}`,
      event,
      timestamp: at / 1e6,
      'log-level': is_permanent === null ? 'info' : is_permanent ? 'error' : 'warn',
      recipient: to_email,
      tags,
      'user-variables': variables,
      message: {
        headers: { 'message-id': bareId(email.message_id), from, to: to_email, subject },
      },
      ...(is_permanent === null ? {} : { severity: is_permanent ? 'permanent' : 'temporary', reason }),
      ...(event === 'delivered' || event === 'failed'
        ? {
            'delivery-status': {
              code,
              message: words ?? '',
              description: '',
              'enhanced-code': enhancedIn(words),
            },
          }
        : {}),
    };
  }
}

const bareId = (message_id: string): string => message_id.replace(/^<|>$/g, '');

/** An enhanced status code (RFC 3463) in the words of a mail server; empty without one. */
function enhancedIn(words: string | null): string {
  return /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(words ?? '')?.[0] ?? '';
}

/** What is kept of a call besides its mails. */
function callExtra({ tags, variables }: Readonly<Record<string, unknown>>) {
  return {
    tags: Array.isArray(tags) ? tags.map(String) : [],
    variables: isPlainObject(variables) ? variables : {},
  };
}
