/** The overview: the numbers of what a caller may see, and for administrators how the machine is. */
import { statfsSync, statSync } from 'node:fs';
import type { Projects } from '../../access/projects/service.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, HOUR_MS, toIso, utcDay } from '../../platform/host/clock.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { ADMINISTER, type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import { VERSION } from '../../version.ts';
import type { Doctor } from '../doctor/service.ts';
import { readHeld } from '../holds/service.ts';
import { HOURS_OF_DAY, readActivity } from './activity.ts';
import { compareDays, HOME_DAYS, listTodo, NO_NUMBERS, type TodoAsked } from './home.ts';
import type { Activity, DayNumbers, MailDay, MailHour, Overview } from './schemas.ts';
import * as store from './store.ts';

/** Decision: sends and failures by hour, of a day. */
const OVERVIEW_HOURS = 24;

const DAYS_A_TURN = 5;

export class Overviews {
  readonly #data_dir: string;

  constructor(
    private readonly deps: {
      database: Database;
      clock: Clock;
      config: { data_dir: string };
      doctor: Pick<Doctor, 'latest'>;
      projects: Pick<Projects, 'fateOfMail'>;
    },
  ) {
    this.#data_dir = deps.config.data_dir;
  }

  /** Reads counters. `hours` are the last 24 in UTC; `days` counts the present one, too. */
  async read(caller: ManagementCaller, { days }: { days: number | null }): Promise<Overview> {
    const { read } = this.deps.database;
    const ids = scopeOf(caller);
    const scope = ids === null ? null : JSON.stringify(ids);
    const by_day = await this.#days(scope);
    const counters = store.readCounters(read, scope);
    const sumOf = (list: string, fits: (facet: string) => boolean = () => true): number =>
      counters.reduce((sum, each) => sum + (each.list === list && fits(each.facet) ? each.n : 0), 0);
    const emails = (status: string): number => sumOf('emails', (facet) => facet === status);
    // A facet of jobs is its type and status.
    const jobs = (status: string): number => sumOf('jobs', (facet) => facet.endsWith(`:${status}`));
    return {
      projects: ids === null ? store.countProjects(read) : ids.length,
      api_keys: sumOf('api_keys'),
      objects: { count: sumOf('objects'), size_bytes: sumOf('object_bytes') },
      emails: {
        scheduled: emails('scheduled'),
        queued: emails('queued'),
        sending: emails('sending'),
        sent: emails('sent'),
        delivered: emails('delivered'),
        bounced: emails('bounced'),
        complained: emails('complained'),
        suppressed: emails('suppressed'),
        failed: emails('failed'),
        unknown: emails('unknown'),
        canceled: emails('canceled'),
      },
      jobs: {
        pending: jobs('pending'),
        processing: jobs('processing'),
        completed: jobs('completed'),
        failed: jobs('failed'),
      },
      email_schedules: sumOf('email_schedules'),
      contact_lists: sumOf('contact_lists', (facet) => facet === 'current'),
      contacts: store.countContacts(read, scope),
      suppressions: sumOf('suppressions'),
      sequences: sumOf('sequences'),
      hours: this.#hours(scope),
      ...compareDays(by_day),
      todo: listTodo(read, scope, { ...this.#asked(caller), findings: this.#findings(caller) }),
      held: readHeld(read, ids),
      ...(days === null ? {} : { days: by_day.slice(-days).map(mailDayOf) }),
      ...(caller.capabilities.has(ADMINISTER) ? { machine: this.#machine() } : {}),
    };
  }

  /** Of one project; see activity.ts. `caller` is null for the shell. */
  activity(caller: ManagementCaller | null, project_id: number, days: number): Activity {
    return readActivity(this.deps.database.read, project_id, { ...this.#asked(caller), count: days });
  }

  #asked(caller: ManagementCaller | null): Omit<TodoAsked, 'findings'> {
    const { clock, projects } = this.deps;
    return {
      now_ms: clock.now(),
      may_administer: caller?.capabilities.has(ADMINISTER) ?? true,
      isCaptured: (project) => projects.fateOfMail(project) === 'captured',
    };
  }

  #hours(scope: string | null): MailHour[] {
    const first = Math.floor(this.deps.clock.now() / HOUR_MS) - OVERVIEW_HOURS + 1;
    const hours = Array.from({ length: OVERVIEW_HOURS }, (_, index) => ({
      hour: toIso((first + index) * HOUR_MS),
      sent: 0,
      bounced: 0,
      complained: 0,
      failed: 0,
    }));
    for (const { hour, what, n } of store.readHours(this.deps.database.read, scope, first)) {
      // None where the clock was set back since.
      const of_hour = hours[hour - first];
      if (of_hour) of_hour[what] = n;
    }
    return hours;
  }

  /** A few days a turn. A month of 50 projects that mail every hour would hold others up for 50 ms. */
  async #days(scope: string | null): Promise<(DayNumbers & { date: string })[]> {
    const first = Math.floor(this.deps.clock.now() / DAY_MS) - HOME_DAYS + 1;
    const days = Array.from({ length: HOME_DAYS }, (_, index) => ({
      date: utcDay((first + index) * DAY_MS),
      ...NO_NUMBERS,
    }));
    for (const { day, uploads } of store.readUploads(this.deps.database.read, scope, first)) {
      const of_day = days[day - first];
      if (of_day) of_day.uploads = uploads;
    }
    for (let at = first; at < first + HOME_DAYS; at += DAYS_A_TURN) {
      const [since, end] = [at * HOURS_OF_DAY, (at + DAYS_A_TURN) * HOURS_OF_DAY];
      for (const { day, what, n } of store.readDays(this.deps.database.read, scope, since, end - 1)) {
        const of_day = days[day - first];
        if (of_day) of_day[what] = n;
      }
      await letOthers();
    }
    return days;
  }

  /** How many problems doctor knew of. Nobody waits: it examines once an hour, which takes seconds. */
  #findings(caller: ManagementCaller): number {
    if (!caller.capabilities.has(ADMINISTER)) return 0;
    return this.deps.doctor.latest(HOUR_MS).filter(({ status }) => status !== 'ok').length;
  }

  #machine(): NonNullable<Overview['machine']> {
    const { blocks, bavail, bsize } = statfsSync(this.#data_dir);
    const path = databasePathOf(this.#data_dir);
    const database_bytes = [path, `${path}-wal`].reduce(
      (sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    return { disk_bytes: blocks * bsize, free_disk_bytes: bavail * bsize, database_bytes, version: VERSION };
  }
}

function mailDayOf({ date, sent, bounced, complained, failed }: DayNumbers & { date: string }): MailDay {
  return { date, sent, bounced, complained, failed };
}
