/**
 * What changes of a row as it arrives: the numbers by which rows refer to each other, and work that would
 * start by itself. That waits or is paused until it is let go.
 */

import { AppError } from '../../errors.ts';
import { MAX_ENVIRONMENTS } from '../../limits.ts';
import { CONTENTS_MAX_BYTES } from '../../platform/files/store.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { HELD } from '../../platform/jobs/store.ts';
import { soughtName } from '../../platform/words/phrases.ts';
import { NAMES, type Numbered } from './inventory-tables.ts';
import { type Going, isNumbered, type Row, type Value } from './rows-store.ts';
import type { Named, Standing } from './store.ts';

/** Numbers that rows have where they come from, and where the first of them is to be. */
export interface Range {
  from: number;
  to: number;
  starts_at: number;
}

interface ArrivalFacts {
  project_id: number;
  now_ms: number;
  ranges: ReadonlyMap<Numbered, Range>;
  /** Numbers there by those of where it comes from. */
  mailboxes: ReadonlyMap<number, number>;
  tokens: ReadonlyMap<number, number>;
  people: ReadonlyMap<number, number>;
  /** Where the bytes of what was in a store will be. */
  placeStored(row: Row): Value;
}

/** The environment that every vault has, with a row or without. */
const PRODUCTION = 'production';
/** Statuses of mails that are yet to go out. */
const WAITING: readonly Value[] = ['scheduled', 'queued', 'sending'];
/** Types of jobs that belong to a project; others are the operator's, and none of a project's file. */
const OF_PROJECT: readonly Value[] = [
  'email.send',
  'email.import',
  'email.subscribe',
  'schedule.run',
  'sequence.step',
  'broadcast.send',
];
/** Types of jobs of what arrives paused: it is given another one as it goes on. */
const OF_PAUSED: readonly Value[] = ['sequence.step', 'broadcast.send'];

export class Arrival {
  readonly facts: ArrivalFacts;
  readonly standings: Standing[] = [];
  /** Of its vault. */
  readonly environments = new Set([PRODUCTION]);

  constructor(facts: ArrivalFacts) {
    this.facts = facts;
  }

  /** The number that a row gets here. Null for none, and for one that no row has had. 0 stays: no row. */
  numberOf(table: Numbered | 'projects', value: Value): number | null {
    if (table === 'projects') return this.facts.project_id;
    if (value === 0) return 0;
    const range = this.facts.ranges.get(table);
    if (typeof value !== 'number' || !range || value < range.from || value > range.to) return null;
    return value - range.from + range.starts_at;
  }

  /** Makes of a row what arrives of it; null where nothing does. */
  of(going: Going, row: Row): Row | null {
    const arriving = { ...row };
    for (const [column, table] of going.numbers) arriving[column] = this.numberOf(table, row[column] ?? null);
    const rule = RULES[going.table];
    return rule ? rule(arriving, this) : arriving;
  }
}

/** Statuses of broadcasts that go on by themselves. */
const RUNNING: readonly Value[] = ['scheduled', 'sending', 'testing'];
/** How a sequence or a broadcast arrives that runs where it comes from, as that of a copy does. */
const MOVED = { status: 'paused', pause_reason: 'moved', job_id: null };

/** Changes a row whose numbers are those of here already; null where nothing of it arrives. */
type Rule = (row: Row, arrival: Arrival) => Row | null;

const RULES: Partial<Record<string, Rule>> = {
  idempotent_answers: (row, arrival) => {
    const [kind = '', id = ''] = String(row.caller).split(':');
    const number =
      kind === 'key'
        ? arrival.numberOf('api_keys', Number(id))
        : (kind === 'token' ? arrival.facts.tokens : arrival.facts.people).get(Number(id));
    return number ? { ...row, caller: `${kind}:${number}` } : null;
  },
  audit_events: (row, arrival) => ({ ...withActor(row, arrival), target: targetOf(row.target, arrival) }),
  vault_environments: (row, { environments }) => {
    environments.add(String(row.name));
    // Production is not counted.
    if (environments.size > MAX_ENVIRONMENTS + 1)
      throw new AppError(
        'invalid',
        `The vault of the file has more than ${MAX_ENVIRONMENTS} environments beside ${PRODUCTION}.`,
      );
    return row.name === PRODUCTION ? { ...row, inherits: 0 } : row;
  },
  vault_services: ofEnvironment,
  vault_values: ofEnvironment,
  vault_versions: (row, arrival) => withActor(ofEnvironment(row, arrival), arrival),
  vault_reveals: withActor,
  // It is told of what happens from here on.
  webhooks: (row) => ({ ...row, after_event: 0, deliveries: 0 }),
  objects: (row, arrival) => {
    const named = { ...row, sought_name: soughtName(String(row.original_filename)) };
    if (row.store === 's3') return { ...named, store: arrival.facts.placeStored(row) };
    const is_too_large = row.store === 'database' && Number(row.size_bytes) > CONTENTS_MAX_BYTES;
    return is_too_large ? { ...named, store: 'local' } : named;
  },
  email_schedules: (row) => {
    const is_moved = row.is_active === 1 || row.is_moved === 1 || row.is_held === 1;
    return { ...row, is_moved: is_moved ? 1 : 0, is_held: 0, is_active: 0, next_run_at: null };
  },
  jobs: arriveJob,
  emails: arriveEmail,
  email_attempts: (row, { facts }) =>
    row.finished_at === null
      ? {
          ...row,
          outcome: 'interrupted',
          finished_at: facts.now_ms,
          may_be_sent: row.mailbox === 'none' ? 0 : 1,
        }
      : row,
  sequences: (row, arrival) =>
    asDraft('sequences', row.status === 'active' || isHeld(row) ? { ...row, ...MOVED } : row, arrival),
  broadcasts: (row, arrival) => {
    const runs = RUNNING.includes(row.status ?? null) || isHeld(row);
    return asDraft('broadcasts', runs ? { ...row, ...MOVED } : row, arrival);
  },
};

/** True when a restore paused it where it comes from: here nothing tells of that. */
function isHeld({ pause_reason }: Row): boolean {
  return pause_reason === 'restored';
}

/** Their work looks at what is open each hour: it must not find half of it. */
function asDraft(table: Standing['table'], row: Row, { standings }: Arrival): Row {
  standings.push({ table, id: Number(row.id), status: String(row.status) });
  return { ...row, status: 'draft' };
}

/** What names none would be in no list, and go with none. */
function ofEnvironment(row: Row, { environments }: Arrival): Row {
  if (environments.has(String(row.environment))) return row;
  throw new AppError(
    'invalid',
    `A row of the vault is refused: its environment ${row.environment} is none of the file.`,
  );
}

function withActor(row: Row, arrival: Arrival): Row {
  const { facts } = arrival;
  const { actor_kind, actor_id } = row;
  if (actor_id === null || actor_id === undefined) return row;
  if (actor_kind === 'token') return { ...row, actor_id: textOf(facts.tokens.get(Number(actor_id))) };
  if (actor_kind === 'person') return { ...row, actor_id: textOf(facts.people.get(Number(actor_id))) };
  return { ...row, actor_id: targetOf(actor_id, arrival) };
}

/** `api_key:12` and `project:3` name rows by their numbers; all other targets are public ids. */
function targetOf(target: Value | undefined, arrival: Arrival): Value {
  const [, kind, id] = /^(api_key|project):(\d+)$/.exec(String(target)) ?? [];
  if (kind === undefined) return target ?? null;
  const number = arrival.numberOf(kind === 'project' ? 'projects' : 'api_keys', Number(id));
  return number === null ? kind : `${kind}:${number}`;
}

function textOf(number: number | undefined): string | null {
  return number === undefined ? null : String(number);
}

function arriveJob(row: Row, arrival: Arrival): Row {
  const payload = JSON.stringify(renumbered(parseObject(row.payload), arrival));
  if (row.status !== 'pending' && row.status !== 'processing') return { ...row, payload };
  if (!OF_PROJECT.includes(row.type ?? null))
    throw new AppError('invalid', `A job of the file is a ${row.type}, which is no project's.`);
  const interruptions = Number(row.interruptions) + (row.status === 'processing' ? 1 : 0);
  if (OF_PAUSED.includes(row.type ?? null))
    return { ...row, payload, status: 'completed', finished_at: arrival.facts.now_ms };
  return {
    ...row,
    payload,
    interruptions,
    status: 'pending',
    run_at: HELD,
    // The lane of a mail is its mailbox's: it is put into another one as it is sent.
    lane: row.type === 'email.send' ? String(row.lane).replace(/\d+$/, '0') : (row.lane ?? null),
  };
}

/** Numbers within what a job is to do. */
function renumbered(payload: Record<string, unknown>, arrival: Arrival): Record<string, unknown> {
  for (const [name, value] of Object.entries(payload)) {
    const table = NAMES[name];
    if (typeof value === 'number' && isNumbered(table)) payload[name] = arrival.numberOf(table, value);
  }
  return payload;
}

function arriveEmail(row: Row, arrival: Arrival): Row {
  const { mailboxes } = arrival.facts;
  const arriving = {
    ...row,
    mailbox_id: mailboxes.get(Number(row.mailbox_id)) ?? null,
    // Mail of another product's API has values alone.
    merge:
      row.merge === null || row.source === 'mailgun_bulk' ? (row.merge ?? null) : mergeOf(row.merge, arrival),
  };
  if (!WAITING.includes(row.status ?? null)) return arriving;
  const is_bulk = row.job_id === null;
  return {
    ...arriving,
    status: row.status === 'sending' ? 'queued' : (row.status ?? null),
    // It gets a mailbox, and a place in its quota, as it goes out.
    mailbox_id: null,
    quota_day: null,
    due_at: is_bulk ? HELD : null,
  };
}

/** Renumbers the source that a mail is rendered from (`s`), and the contact whom it is for (`c`). */
function mergeOf(merge: Value | undefined, arrival: Arrival): string {
  const { s, c, ...more } = parseObject(merge);
  const source = typeof s === 'number' ? arrival.numberOf('merge_sources', s) : null;
  const contact = typeof c === 'number' ? arrival.numberOf('contacts', c) : null;
  return JSON.stringify({ s: source ?? 0, ...more, c: contact });
}

function parseObject(json: Value | undefined): Record<string, unknown> {
  const value: unknown = JSON.parse(String(json));
  return isPlainObject(value) ? { ...value } : {};
}

/** Lists what a row names by ids that are the same everywhere. */
export function namedBy({ table }: Going, row: Row): Named[] {
  const of = table === 'jobs' ? parseObject(row.payload) : row;
  const files: unknown[] = [table === 'objects' ? row.public_id : row.object_public_id];
  if (table === 'emails') {
    const attachments: unknown = JSON.parse(String(row.attachments));
    if (Array.isArray(attachments))
      files.push(...attachments.map((one: unknown) => isPlainObject(one) && one.public_id));
  }
  const named = {
    mail: [of.email_id],
    schedule: [of.schedule_id],
    import: [of.import_id],
    suppression: [of.suppression_id],
    file: files,
  };
  return NAMED_KINDS.flatMap((kind) =>
    named[kind].flatMap((id) => (typeof id === 'string' ? [{ kind, id }] : [])),
  );
}
const NAMED_KINDS = ['mail', 'schedule', 'import', 'suppression', 'file'] as const;

/* --- As lines of a file --------------------------------------------------------------------------------------- */

/** A row as one line of JSON: its values in the order of the columns. Bytes stand as `{"base64": ...}`. */
export function lineOf(values: readonly unknown[]): string {
  return `${JSON.stringify(values.map((value) => (value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value)))}\n`;
}

/** The row of a line; null for what is none. */
export function rowOfLine(going: Going, line: string): Row | null {
  const values: unknown = JSON.parse(line);
  if (!Array.isArray(values) || values.length !== going.columns.length) return null;
  const row: Row = {};
  for (const [index, { name }] of going.columns.entries()) {
    const value: unknown = values[index];
    if (value === null || typeof value === 'string' || typeof value === 'number') row[name] = value;
    else if (isPlainObject(value) && typeof value.base64 === 'string')
      row[name] = Buffer.from(value.base64, 'base64');
    else return null;
  }
  return row;
}
