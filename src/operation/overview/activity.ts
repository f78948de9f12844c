/** What happened in a project lately, day by day in UTC, and what went wrong last. */
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, HOUR_MS, toIso, utcDay } from '../../platform/host/clock.ts';
import { compareDays, HOME_DAYS, listTodo, NO_NUMBERS, type TodoAsked } from './home.ts';
import type { Activity, ActivityDay } from './schemas.ts';
import * as store from './store.ts';

/** Decision: the last errors that a project's activity tells. */
const ACTIVITY_ERRORS = 10;

/** Who came to a list last: as many as a glance takes. */
const SIGN_UPS = 5;

export const HOURS_OF_DAY = DAY_MS / HOUR_MS;

/** The last `count` days, today the last of them. It reads counters, so its cost does not grow. */
export function readActivity(
  read: Tx,
  project_id: number,
  { count, ...asked }: Omit<TodoAsked, 'findings'> & { count: number },
): Activity {
  const first = Math.floor(asked.now_ms / DAY_MS) - HOME_DAYS + 1;
  const days = Array.from(
    { length: HOME_DAYS },
    (_, index): ActivityDay => ({
      date: utcDay((first + index) * DAY_MS),
      ...NO_NUMBERS,
      bytes: 0,
    }),
  );
  // What is not there was counted before the clock was set back.
  for (const { day, what, n } of store.readMailDays(read, project_id, first * HOURS_OF_DAY)) {
    const of_day = days[day - first];
    if (of_day) of_day[what] = n;
  }
  for (const { day, uploads, bytes } of store.readUploadDays(read, project_id, first)) {
    const of_day = days[day - first];
    if (of_day) Object.assign(of_day, { uploads, bytes });
  }
  return {
    ...compareDays(days),
    todo: listTodo(read, JSON.stringify([project_id]), { ...asked, findings: 0 }),
    days: days.slice(-count),
    last_errors: store
      .listErrors(read, project_id, ACTIVITY_ERRORS)
      .map(({ at, ...error }) => ({ ...error, at: toIso(at) })),
    sign_ups: store
      .listSignUps(read, project_id, SIGN_UPS)
      .map(({ at, ...sign_up }) => ({ ...sign_up, at: toIso(at) })),
    storage: store.readStorage(read, project_id),
    keys: store
      .listKeyUse(read, project_id)
      .map(({ last_used_at, ...key }) => ({ ...key, last_used_at: toIso(last_used_at) })),
  };
}
