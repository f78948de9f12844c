/**
 * The overview: the numbers of what a caller may see, and for administrators how the machine is. And a project's
 * activity.
 */
import { statfsSync, statSync } from 'node:fs';
import type { Projects } from '../../access/projects/service.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, HOUR_MS, toIso } from '../../platform/host/clock.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { ADMINISTER, type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import { VERSION } from '../../version.ts';
import type { Doctor } from '../doctor/service.ts';
import { readHeld } from '../holds/service.ts';
import { compareDays, Days, listTodo, type TodoAsked } from './home.ts';
import type { Activity, DayNumbers, MailDay, MailHour, Overview } from './schemas.ts';
import * as store from './store.ts';

const HOURS_OF_DAY = DAY_MS / HOUR_MS;
/** Decision: how many mails that were not delivered a project's activity tells of. */
const ACTIVITY_ERRORS = 10;
/** A glance takes in so many of those who came to a list last. */
const SIGN_UPS = 5;

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
      todo: listTodo(read, scope, {
        ...this.#asked(caller),
        findings: this.#findings(caller),
        new_people: caller.capabilities.has(ADMINISTER) ? store.countNewPeople(read) : 0,
      }),
      held: readHeld(read, ids),
      ...(days === null ? {} : { days: by_day.slice(-days).map(mailDayOf) }),
      ...(caller.capabilities.has(ADMINISTER) ? { machine: this.#machine() } : {}),
    };
  }

  /**
   * What happened in a project in the last `count` days, and what went wrong last. It reads counters, so its cost
   * does not grow. `caller` is null for the shell.
   */
  activity(caller: ManagementCaller | null, project_id: number, count: number): Activity {
    const { read } = this.deps.database;
    const asked = this.#asked(caller);
    const all = new Days(asked.now_ms);
    const { first, days } = all;
    for (const { day, what, n } of store.readMailDays(read, project_id, first * HOURS_OF_DAY))
      all.fill(day, { [what]: n });
    for (const { day, ...counted } of store.readUploadDays(read, project_id, first)) all.fill(day, counted);
    return {
      ...compareDays(days),
      todo: listTodo(read, JSON.stringify([project_id]), { ...asked, findings: 0, new_people: 0 }),
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

  #asked(caller: ManagementCaller | null): Omit<TodoAsked, 'findings' | 'new_people'> {
    const { clock, projects } = this.deps;
    return {
      now_ms: clock.now(),
      may_administer: caller?.capabilities.has(ADMINISTER) ?? true,
      vaults: vaultsOf(caller),
      isCaptured: (project) => projects.fateOfMail(project) === 'captured',
    };
  }

  #hours(scope: string | null): MailHour[] {
    const first = Math.floor(this.deps.clock.now() / HOUR_MS) - HOURS_OF_DAY + 1;
    const hours = Array.from({ length: HOURS_OF_DAY }, (_, index) => ({
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
    const { read } = this.deps.database;
    const all = new Days(this.deps.clock.now());
    const { first, days } = all;
    for (const { day, uploads } of store.readUploads(read, scope, first)) all.fill(day, { uploads });
    for (let at = first; at < first + days.length; at += DAYS_A_TURN) {
      const [since, end] = [at * HOURS_OF_DAY, (at + DAYS_A_TURN) * HOURS_OF_DAY];
      for (const { day, what, n } of store.readDays(this.deps.database.read, scope, since, end - 1))
        all.fill(day, { [what]: n });
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

/** Which environments of vaults a caller may read; null is the shell. */
function vaultsOf(caller: ManagementCaller | null): TodoAsked['vaults'] {
  if (caller && !caller.capabilities.has('can_read_vault')) return null;
  return caller?.environments ? { environments: JSON.stringify(caller.environments) } : 'all';
}

function mailDayOf({ date, sent, bounced, complained, failed }: DayNumbers & { date: string }): MailDay {
  return { date, sent, bounced, complained, failed };
}
