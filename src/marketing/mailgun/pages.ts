/** Pages of events: what is asked for, and where a page begins, all of which its address holds. */
import { invalid, notFound } from '../../errors.ts';
import { nullable, oneOf, parse, type Static, t } from '../../platform/http/schema.ts';
import { MAILGUN_EVENTS, type MailgunEvent } from './tables.ts';

/** Decision, as Mailgun has it: events of a page. */
const MAX_EVENTS = 300;
const DEFAULT_EVENTS = 100;
/** Of an address, a tag or a Message-ID to look for. */
const MAX_ASKED_CHARS = 500;
const MAX_TAGS = 10;
/** Beyond every time: in the year 2255. */
const NEVER = Number.MAX_SAFE_INTEGER;

/**
 * A question, with moments in microseconds: later than `after`, no later than `until`. A page begins at `from`, or ends there where it
 * `is_backward`; null is where the question begins, or ends.
 */
export type Question = Static<typeof PAGE>;

type Asked = Readonly<Record<string, string | undefined>>;

/** Reads a first question; `last_at` is when the last event of all was written. Throws AppError `invalid`. */
export function readQuestion(asked: Asked, last_at: number): Question {
  const begin = readTime(asked, 'begin');
  const end = readTime(asked, 'end');
  const is_reversed = begin !== null && end !== null && begin > end;
  const [first, last] = is_reversed ? [end, begin] : [begin, end];
  const is_ascending = readDirection(asked) ?? (begin !== null && !is_reversed);
  const until = last ?? NEVER;
  return {
    after: first === null ? -1 : first - 1,
    // From the last one on: later events are of no page of it.
    until: is_ascending ? until : Math.min(until, last_at),
    is_ascending,
    limit: readLimit(asked.limit),
    events: readNames(asked, 'event', /\s+OR\s+/i).map(eventOf),
    tags: readNames(asked, 'tags', /\s+AND\s+/i).slice(0, MAX_TAGS),
    recipient: readText(asked, 'recipient')?.toLowerCase() ?? null,
    message_id: readText(asked, 'message-id')?.replace(/^<|>$/g, '') ?? null,
    from: null,
    is_backward: false,
  };
}

function readTime(asked: Asked, name: string): number | null {
  const text = asked[name]?.trim();
  if (!text) return null;
  const at = /^\d{1,10}(\.\d{1,20})?$/.test(text) ? Number(text) * 1e6 : Date.parse(text) * 1e3;
  if (Number.isFinite(at)) return Math.round(at);
  throw invalid({ [name]: ['must be a time: seconds since 1970, or a date as in mail'] });
}

function readDirection({ ascending }: Asked): boolean | null {
  if (!ascending) return null;
  if (/^(yes|true)$/i.test(ascending)) return true;
  if (/^(no|false)$/i.test(ascending)) return false;
  throw invalid({ ascending: ['must be yes or no'] });
}

function readLimit(text: string | undefined): number {
  if (!text) return DEFAULT_EVENTS;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_EVENTS) return limit;
  throw invalid({ limit: [`must be 1 to ${MAX_EVENTS}`] });
}

function readText(asked: Asked, name: string): string | null {
  const text = asked[name]?.trim();
  if (!text) return null;
  if (text.length <= MAX_ASKED_CHARS) return text;
  throw invalid({ [name]: [`must have at most ${MAX_ASKED_CHARS} characters`] });
}

function readNames(asked: Asked, name: string, between: RegExp): string[] {
  return readText(asked, name)?.split(between) ?? [];
}

function eventOf(name: string): MailgunEvent {
  const known = MAILGUN_EVENTS.find((event) => event === name.toLowerCase());
  if (known) return known;
  throw invalid({ event: [`must be among ${MAILGUN_EVENTS.join(', ')}, with OR between them`] });
}

/** A page's part of an address. */
export function pageOf(question: Question): string {
  return Buffer.from(JSON.stringify(question)).toString('base64url');
}

const moment = t.Integer({ minimum: -2, maximum: NEVER });
const asked_text = nullable(t.String({ maxLength: MAX_ASKED_CHARS }));
const PAGE = t.Object({
  after: moment,
  until: moment,
  is_ascending: t.Boolean(),
  limit: t.Integer({ minimum: 1, maximum: MAX_EVENTS }),
  events: t.Array(oneOf(MAILGUN_EVENTS), { maxItems: MAX_ASKED_CHARS }),
  tags: t.Array(t.String(), { maxItems: MAX_TAGS }),
  recipient: asked_text,
  message_id: asked_text,
  from: nullable(moment),
  is_backward: t.Boolean(),
});

/** The question that a page's address holds. Throws AppError `not_found` for what is none. */
export function readPage(page: string): Question {
  try {
    return parse(PAGE, JSON.parse(Buffer.from(page, 'base64url').toString()));
  } catch {
    throw notFound('Page');
  }
}

/** The part of a question's time that a page lies in, and in which direction it is walked. */
export function spanOf({ after, until, is_ascending, from, is_backward }: Question) {
  if (from === null) return { after, until, is_ascending: is_ascending !== is_backward };
  // Later than where it begins, for a question that ascends and goes on, or descends and goes back.
  return is_ascending !== is_backward
    ? { after: Math.max(after, from), until, is_ascending: true }
    : { after, until: Math.min(until, from - 1), is_ascending: false };
}

/** The pages beside one that holds events from `first` to `last`; null where it holds none. */
export function pagesBeside(question: Question, held: { first: number; last: number } | null) {
  const { from, is_ascending } = question;
  const at = (from_at: number | null, is_backward: boolean): string =>
    pageOf({ ...question, from: from_at, is_backward });
  // Of an empty page that begins somewhere, what stands before it ends there.
  const edge = from === null ? null : is_ascending ? from + 1 : from - 1;
  const is_past_end = held === null && question.is_backward;
  return {
    first: at(null, false),
    last: at(null, true),
    next: at(held?.last ?? (is_past_end ? null : from), false),
    previous: at(held?.first ?? (is_past_end ? from : edge), true),
  };
}
