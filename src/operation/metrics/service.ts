/** Metrics: what the server measured since its start, and counters and indexes. It walks no table. */
import { statfsSync, statSync } from 'node:fs';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, SECOND_MS } from '../../platform/host/clock.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import type { EventLoopWatch } from '../../platform/host/event-loop.ts';
import type { Histogram, Tally } from '../../platform/host/measures.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { RequestMeasures } from '../../platform/http/request-measures.ts';
import { listPendingGroups, PRIORITY } from '../../platform/jobs/store.ts';
import type { Backups } from '../backups/service.ts';
import { exposeMetrics, type Metric } from './exposition.ts';
import * as store from './store.ts';

/** Of what waits, so many rows are counted before others have their turn: a third of a millisecond. */
const COUNTED_A_TURN = 5_000;
/** A caller waits no longer for new counts, and gets those of before. */
const COUNT_WAIT_MS = 3;

/** Lists whose rows triggers count. Of mail and jobs more is told than how many there are. */
const LISTS = [
  'projects',
  'api_keys',
  'objects',
  'emails',
  'jobs',
  'email_schedules',
  'contact_lists',
  'suppressions',
  'segments',
  'sequences',
  'broadcasts',
  'audit_all',
] as const;

/** Bulk mail waits in the log; the job that sends it says nothing about how much that is. */
const BULK_JOB = 'email.bulk';
const BULK_LANE = 'email.bulk:marketing';
/** Told as empty where nothing of them was ever seen to wait. */
const LANES = ['email.send:transactional', 'email.send:scheduled', BULK_LANE];

/** Of the SMTP server, since it began; null without one. */
interface Submitted {
  connections: number;
  taken: number;
  put_off: number;
  refused: number;
  failed_sign_ins: number;
}

interface MetricsDeps {
  config: { data_dir: string };
  clock: Clock;
  database: Database;
  requests: RequestMeasures;
  event_loop: EventLoopWatch;
  blobs: { readonly syncs: Histogram };
  backups: Pick<Backups, 'list'>;
  projects: { isActive(id: number, read: Tx): boolean };
  webhooks: { waitingSince(read: Tx): number | null };
  submission: { measures(): Submitted | null };
  deliveries: { readonly outcomes: Tally<string>; readonly attempts: { readonly outcomes: Tally<string> } };
}

/** Counts from the database, and when they were read. */
interface Counted {
  at: number;
  rows: [list: string, n: number][];
  emails: { facet: string; n: number }[];
  object_bytes: number;
  lanes: Map<string, Lane>;
  mailboxes: ReturnType<typeof store.countMailboxes>;
  inboxes: ReturnType<typeof store.readInboxes>;
  /** Since when what a webhook is to be told has been due; null where nothing waits. */
  webhooks_since: number | null;
}

/** How much waits in lanes of one kind, and for how long its oldest has been due. */
interface Lane {
  depth: number;
  age_ms: number;
}

export class Metrics {
  #counted: Counted | null = null;
  #counting: Promise<Counted> | null = null;
  readonly #lanes = new Set(LANES);

  constructor(private readonly deps: MetricsDeps) {}

  /** All metrics as text. What takes long to count is as it was when somebody asked before. */
  async read(): Promise<string> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = null;
    });
    const { promise: waited, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), COUNT_WAIT_MS);
    const fresh = await (this.#counted ? Promise.race([this.#counting, waited]) : this.#counting);
    clearTimeout(timer);
    const counted = fresh ?? this.#counted;
    return exposeMetrics([...this.#measured(), ...(counted ? this.#read(counted) : []), ...this.#found()]);
  }

  /* --- Measured as it happened -------------------------------------------------------------------------------------- */

  #measured(): Metric[] {
    const { requests, event_loop, database, blobs, deliveries } = this.deps;
    const counts = new Map(database.measures.counts.entries());
    return [
      {
        name: 'satchel_http_request_duration_seconds',
        help: 'Requests by route and status, and the time until their answer began.',
        type: 'histogram',
        samples: requests.list().map(({ method, route, status, durations }) => ({
          labels: { method, route, status: String(status) },
          histogram: durations,
        })),
      },
      {
        name: 'satchel_event_loop_delay_seconds',
        help: 'How late the event loop came to what was due.',
        type: 'histogram',
        samples: [{ histogram: event_loop.delays }],
      },
      counters('attempts_total', 'Attempts at handing a mail to a relay, by outcome.', 'outcome', [
        ...deliveries.attempts.outcomes.entries(),
      ]),
      counters('deliveries_total', 'What became of mails, reports of other servers included.', 'outcome', [
        ...deliveries.outcomes.entries(),
      ]),
      counter('commits_total', 'Commits, of which each may carry several changes.', counts.get('commits')),
      counter('changes_total', 'Changes that were committed.', counts.get('changes')),
      {
        name: 'satchel_fsync_duration_seconds',
        help: 'How long the disk took to keep a commit (log) or an upload (files).',
        type: 'histogram',
        samples: [
          { labels: { of: 'log' }, histogram: database.measures.syncs },
          { labels: { of: 'files' }, histogram: blobs.syncs },
        ],
      },
      ...ofSubmission(this.deps.submission.measures()),
    ];
  }

  /* --- Counted in the database -------------------------------------------------------------------------------------- */

  /** A part a turn, each from the newest state. */
  async #count(): Promise<Counted> {
    const { database, clock } = this.deps;
    const next = async <T>(part: (read: Tx) => T): Promise<T> => {
      await letOthers();
      return part(database.read);
    };
    const at = clock.now();
    const rows: Counted['rows'] = [];
    for (const list of LISTS) rows.push([list, await next((read) => store.countRows(read, list))]);
    rows.push(['contacts', await next(store.countContacts)]);
    this.#counted = {
      at,
      rows,
      emails: await next((read) => store.countFacets(read, 'emails')),
      object_bytes: await next((read) => store.countRows(read, 'object_bytes')),
      lanes: await this.#countLanes(next, at),
      mailboxes: await next((read) => store.countMailboxes(read, at)),
      inboxes: await next(store.readInboxes),
      webhooks_since: await next((read) => this.deps.webhooks.waitingSince(read)),
    };
    return this.#counted;
  }

  async #countLanes(
    next: <T>(part: (read: Tx) => T) => Promise<T>,
    now_ms: number,
  ): Promise<Map<string, Lane>> {
    const groups = await next((read) => listPendingGroups(read, () => false));
    const bulk = await next(store.listBulkGroups);
    const waiting = [
      ...groups
        .filter(({ lane }) => typeOf(lane) !== BULK_JOB)
        .map((of) => ({ name: laneOf(of), project_id: of.project_id, group: store.waitingJobs(of) })),
      ...bulk.map((of) => ({ name: BULK_LANE, project_id: of.project_id, group: store.waitingBulk(of) })),
    ];
    const lanes = new Map([...this.#lanes].map((name): [string, Lane] => [name, { depth: 0, age_ms: 0 }]));
    const { projects } = this.deps;
    for (const { name, project_id, group } of waiting) {
      const lane = lanes.get(name) ?? { depth: 0, age_ms: 0 };
      // What an inactive project has waiting is not late.
      const since = await next((read) =>
        project_id === null || projects.isActive(project_id, read) ? group.since(read) : null,
      );
      lane.age_ms = Math.max(lane.age_ms, now_ms - (since ?? now_ms));
      for (let from: Parameters<store.Waiting['count']>[1] = null; ; ) {
        const counted = await next((read) => group.count(read, from, COUNTED_A_TURN));
        lane.depth += counted.n;
        if (!counted.next) break;
        from = counted.next;
      }
      lanes.set(name, lane);
      this.#lanes.add(name);
    }
    return lanes;
  }

  #read(counted: Counted): Metric[] {
    const { at, rows, emails, object_bytes, lanes, mailboxes, inboxes, webhooks_since } = counted;
    const { active, paused, resting, slowed, slowest } = mailboxes;
    const named = [...lanes];
    return [
      gauge('counted_timestamp_seconds', 'When what follows from the database was counted.', at / SECOND_MS),
      gauges('queue_depth', 'What waits, by kind of job and urgency.', 'lane', [
        ...named.map(([name, { depth }]): [string, number] => [name, depth]),
      ]),
      gauges('queue_age_seconds', 'For how long the oldest of it has been due.', 'lane', [
        ...named.map(([name, { age_ms }]): [string, number] => [name, age_ms / SECOND_MS]),
      ]),
      gauges('mailboxes', 'Mailboxes by state; one that rests or is slowed is active too.', 'state', [
        ...Object.entries({ active, paused, resting, slowed }),
      ]),
      gauge(
        'slowest_pace_mails_per_second',
        'What the mailbox that is slowed most may send; absent where none is.',
        slowest,
      ),
      gauges('rows', 'Rows of the lists that are counted.', 'list', rows),
      gauges('emails', 'Mails of the log by status.', 'status', [
        ...emails.map(({ facet, n }): [string, number] => [facet, n]),
      ]),
      gauge('object_bytes', 'Bytes of stored files.', object_bytes),
      gauge(
        'inbox_lag_seconds',
        'How long ago the inbox was read that was not read for longest; absent without one.',
        inboxes.read_at === null ? null : Math.max(0, this.deps.clock.now() - inboxes.read_at) / SECOND_MS,
      ),
      gauge(
        'webhook_lag_seconds',
        'For how long the oldest that a webhook is to be told has been due.',
        Math.max(0, at - (webhooks_since ?? at)) / SECOND_MS,
      ),
      gauge(
        'inboxes_failing',
        'Inboxes that could not be read when they were looked at last.',
        inboxes.failing,
      ),
    ];
  }

  /* --- Found on the disk -------------------------------------------------------------------------------------------- */

  #found(): Metric[] {
    const { config, backups, clock } = this.deps;
    const path = databasePathOf(config.data_dir);
    const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const { blocks, bavail, bsize } = statfsSync(config.data_dir);
    const kept = backups.list().filter(({ status }) => status === 'completed');
    const [newest] = kept;
    const age_ms = newest ? Math.max(0, clock.now() - Date.parse(newest.created_at)) : null;
    return [
      gauges('database_bytes', 'Bytes of the database, and of its log beside it.', 'file', [
        ['database', sizeOf(path)],
        ['log', sizeOf(`${path}-wal`)],
      ]),
      gauge('disk_bytes', 'Size of the disk that the data directory is on.', blocks * bsize),
      gauge('disk_free_bytes', 'What is free on it.', bavail * bsize),
      gauge('backups', 'Whole backups that the server keeps.', kept.length),
      gauge(
        'backup_age_seconds',
        'Age of the newest backup that the server keeps; absent without one.',
        age_ms === null ? null : age_ms / SECOND_MS,
      ),
    ];
  }
}

function ofSubmission(submitted: Submitted | null): Metric[] {
  if (!submitted) return [];
  const { connections, taken, put_off, refused, failed_sign_ins } = submitted;
  return [
    gauge('smtp_connections', 'Connections of apps that hand mail in by SMTP.', connections),
    counters('smtp_messages_total', 'Messages that apps handed in by SMTP, by the reply.', 'reply', [
      ['taken', taken],
      ['put_off', put_off],
      ['refused', refused],
    ]),
    counter('smtp_failed_sign_ins_total', 'Sign-ins by SMTP that were refused.', failed_sign_ins),
  ];
}

const PRIORITY_NAMES = new Map<number, string>(Object.entries(PRIORITY).map(([name, at]) => [at, name]));

/** Names a lane without its resource, such as a mailbox, of which there is no end. */
function laneOf({ lane, priority }: { lane: string; priority: number }): string {
  return `${typeOf(lane)}:${PRIORITY_NAMES.get(priority) ?? 'other'}`;
}

function typeOf(lane: string): string {
  return lane.split(':')[0] ?? lane;
}

function counters(name: string, help: string, label: string, values: [string, number][]): Metric {
  return { name: `satchel_${name}`, help, type: 'counter', samples: labelled(label, values) };
}

function gauges(name: string, help: string, label: string, values: [string, number][]): Metric {
  return { name: `satchel_${name}`, help, type: 'gauge', samples: labelled(label, values) };
}

function labelled(label: string, values: [string, number][]) {
  return values.map(([value, n]) => ({ labels: { [label]: value }, value: n }));
}

function counter(name: string, help: string, value = 0): Metric {
  return { name: `satchel_${name}`, help, type: 'counter', samples: [{ value }] };
}

/** Null is no sample. */
function gauge(name: string, help: string, value: number | null): Metric {
  return { name: `satchel_${name}`, help, type: 'gauge', samples: value === null ? [] : [{ value }] };
}
