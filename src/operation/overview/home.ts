/** A home page's beginning: how today compares, shares of bounced and clicked mail, what to do. */
import { ACTIVITY_DAYS, SECRET_REMINDER_DAYS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, utcDay } from '../../platform/host/clock.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import type { ActivityDay, DayNumbers, Rates, Todo, Usual } from './schemas.ts';
import * as store from './store.ts';

/** As far as the counters go back, the present day among them: what `usual` and `rates` are read from. */
const HOME_DAYS = Math.max(...ACTIVITY_DAYS.map(Number));

const WEEK = 7;
const WEEKS = 4;

const NO_NUMBERS: DayNumbers = {
  sent: 0,
  failed: 0,
  bounced: 0,
  complained: 0,
  clicked: 0,
  uploads: 0,
};

/** The last `HOME_DAYS` days in UTC, the present one last, to be filled with what was counted. */
export class Days {
  readonly days: ActivityDay[];
  /** Counted from 1970. */
  readonly first: number;

  constructor(now_ms: number) {
    this.first = Math.floor(now_ms / DAY_MS) - HOME_DAYS + 1;
    this.days = Array.from({ length: HOME_DAYS }, (_, index) => ({
      date: utcDay((this.first + index) * DAY_MS),
      ...NO_NUMBERS,
      bytes: 0,
    }));
  }

  /** A day that is not there was counted before the clock was set back. */
  fill(day: number, counted: Partial<ActivityDay>): void {
    const of_day = this.days[day - this.first];
    if (of_day) Object.assign(of_day, counted);
  }
}

/** Of the last `HOME_DAYS` days, the present one last. */
export function compareDays(days: readonly DayNumbers[]): {
  today: DayNumbers;
  usual: Usual | null;
  rates: { d7: Rates | null; d30: Rates | null };
} {
  return {
    today: numbersOf(days.at(-1) ?? NO_NUMBERS),
    usual: usualOf(days),
    rates: { d7: ratesOf(days.slice(-WEEK)), d30: ratesOf(days) },
  };
}

/** This weekday's mean over four weeks, to a tenth, without weeks before the first event, or null. */
function usualOf(days: readonly DayNumbers[]): Usual | null {
  const began = days.findIndex((day) => Object.values(numbersOf(day)).some((n) => n > 0));
  const present = days.length - 1;
  const same = Array.from({ length: WEEKS }, (_, week) => present - WEEK * (week + 1)).filter(
    (at) => began >= 0 && at >= began,
  );
  if (same.length === 0) return null;
  const mean = (of: keyof DayNumbers): number =>
    Math.round((same.reduce((sum, at) => sum + (days[at]?.[of] ?? 0), 0) / same.length) * 10) / 10;
  return {
    sent: mean('sent'),
    failed: mean('failed'),
    bounced: mean('bounced'),
    complained: mean('complained'),
    clicked: mean('clicked'),
    uploads: mean('uploads'),
  };
}

/** Shares of what was sent, from 0 to 1, or null. Bounces of earlier days' mail can bring them above 1. */
function ratesOf(days: readonly DayNumbers[]): Rates | null {
  const sum = (of: keyof DayNumbers): number => days.reduce((total, day) => total + day[of], 0);
  const sent = sum('sent');
  if (sent === 0) return null;
  const share = (of: keyof DayNumbers): number => Math.min(sum(of) / sent, 1);
  return { bounced: share('bounced'), complained: share('complained'), clicked: share('clicked') };
}

function numbersOf({ sent, failed, bounced, complained, clicked, uploads }: DayNumbers): DayNumbers {
  return { sent, failed, bounced, complained, clicked, uploads };
}

/** Each kind of what waits in a project, and where the console shows it. */
const WAITING = [
  { of: 'failed_mail', kind: 'failed_mail', page: 'emails?status=failed' },
  { of: 'unknown_mail', kind: 'failed_mail', page: 'emails?status=unknown' },
  { of: 'paused_sequence', kind: 'paused_sequence', page: 'sequences?status=paused' },
  { of: 'paused_broadcast', kind: 'paused_broadcast', page: 'broadcasts?status=paused' },
  { of: 'failed_import', kind: 'failed_import', page: 'lists' },
  { of: 'disabled_webhook', kind: 'disabled_webhook', page: 'webhooks' },
  { of: 'expiring_secret', kind: 'expiring_secret', page: 'vault' },
] as const satisfies { of: keyof store.WaitingCounts; kind: Todo['kind']; page: string }[];

/** The question that a to-do list answers. */
export interface TodoAsked {
  now_ms: number;
  /** Problems of the installation; 0 for who may not know of them. */
  findings: number;
  /** Those who came in by single sign-on and have no project; 0 for who may give them none. */
  new_people: number;
  may_administer: boolean;
  /** The environments of vaults that may be read: all, or JSON; null where none may be. */
  vaults: 'all' | { environments: string } | null;
  /** True when mail of a project goes nowhere now. */
  isCaptured(project: { id: number; status: string }): boolean;
}

/**
 * What waits for somebody in the projects of a scope (JSON; null means all), by project. Mail that is kept
 * here waits for who may set up sending, once for all projects.
 */
export function listTodo(
  read: Tx,
  scope: string | null,
  { now_ms, findings, new_people, may_administer, vaults, isCaptured }: TodoAsked,
): Todo[] {
  const week_ago = now_ms - WEEK * DAY_MS;
  const waiting = store.listWaiting(
    read,
    scope,
    now_ms - DAY_MS,
    firstIdOf(week_ago),
    week_ago,
    vaults && now_ms + SECRET_REMINDER_DAYS * DAY_MS,
    vaults === 'all' ? null : (vaults?.environments ?? null),
  );
  const pageOf = (slug: string, page: string): string => `/console/projects/${slug}/${page}`;
  const of_projects = waiting.flatMap(({ slug, ...counts }) =>
    WAITING.filter(({ of }) => counts[of] > 0).map(
      ({ of, kind, page }): Todo => ({ kind, count: counts[of], where: pageOf(slug, page) }),
    ),
  );
  const kept = waiting.filter((project) => project.captured_mail > 0 && isCaptured(project));
  const count = kept.reduce((sum, { captured_mail }) => sum + captured_mail, 0);
  const of_captured = !may_administer
    ? kept.map(
        ({ slug, captured_mail }): Todo => ({
          kind: 'captured_mail',
          count: captured_mail,
          where: pageOf(slug, 'emails'),
        }),
      )
    : count > 0
      ? [{ kind: 'captured_mail' as const, count, where: '/console/set-up-sending' }]
      : [];
  const of_all = [
    { kind: 'finding' as const, count: findings, where: '/console/findings' },
    { kind: 'new_person' as const, count: new_people, where: '/console/people' },
  ].filter(({ count }) => count > 0);
  return [...of_all, ...of_captured, ...of_projects].slice(0, store.TODO_MAX);
}
