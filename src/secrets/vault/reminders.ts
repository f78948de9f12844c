/** What is said about a stored value: when it ends, and a note; and who is reminded of that. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { SECRET_REMINDER_DAYS } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import { about, aside, type Finding, problem, warning } from '../../platform/host/health-check.ts';
import { showNames } from '../../platform/http/ignored-fields.ts';
import { countCodePoints, isPlainObject, parseDateTime } from '../../platform/http/schema.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { findVaultField, type VaultService } from './registry.ts';
import { MAX_NOTE_CHARS } from './schemas.ts';
import * as store from './store.ts';
import { ofOwner, PRODUCTION, type VaultOwner } from './stored-fields.ts';
import type { VaultValueRow } from './tables.ts';

/** Decision: from so long before its end on a value is a problem. */
const PROBLEM_MS = 3 * DAY_MS;

/** What is left out stays as it is. */
interface About {
  expires_at?: number | null;
  note?: string | null;
}

/** What `about` says, by field, and what is wrong with it. */
export function readAbout(
  service: VaultService,
  sent: unknown,
): { about: Map<string, About>; errors: FieldErrors } {
  const about = new Map<string, About>();
  const errors = new Map<string, string[]>();
  if (sent !== undefined && !isPlainObject(sent)) errors.set('about', ['must be an object']);
  for (const [name, value] of Object.entries(isPlainObject(sent) ? sent : {})) {
    const wrong = findVaultField(service, name) ? wrongIn(value) : `is no field of ${service.service}`;
    if (wrong) errors.set(`about.${showNames([name])}`, [wrong]);
    else if (isPlainObject(value)) about.set(name, readOne(value));
  }
  return { about, errors: Object.fromEntries(errors) };
}

function wrongIn(value: unknown): string | null {
  if (!isPlainObject(value))
    return 'must be {"expires_at": ..., "note": ...}, of which either may be left out';
  const { expires_at = null, note = null, ...others } = value;
  if (Object.keys(others).length > 0) return 'takes expires_at and note alone';
  if (expires_at !== null && endOf(expires_at) === null)
    return 'expires_at must be a date such as 2030-01-31, a moment such as 2030-01-31T09:00:00Z, or null';
  if (note !== null && typeof note !== 'string') return 'note must be a string or null';
  if (note !== null && countCodePoints(note) > MAX_NOTE_CHARS)
    return `note must have at most ${MAX_NOTE_CHARS} characters (got ${countCodePoints(note)})`;
  return note?.isWellFormed() === false ? 'note must be well-formed Unicode' : null;
}

function readOne({ expires_at, note }: Record<string, unknown>): About {
  return {
    ...(expires_at === undefined ? {} : { expires_at: endOf(expires_at) }),
    ...(note === undefined ? {} : { note: typeof note === 'string' ? note || null : null }),
  };
}

/** The moment that is meant: of a date its last one, in UTC. Null for what is neither. */
function endOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const is_date = /^\d{4}-\d{2}-\d{2}$/.test(value);
  return parseDateTime(is_date ? `${value}T23:59:59.999Z` : value);
}

/** What is said about what is not stored, once `names` are. */
export function errorsOfAbout(about: ReadonlyMap<string, About>, names: ReadonlySet<string>): FieldErrors {
  return Object.fromEntries(
    [...about.keys()]
      .filter((name) => !names.has(name))
      .map((name) => [`about.${name}`, ['is about a field that is not stored; send its value too']]),
  );
}

/** Throws AppError `invalid` for a field that is not stored. */
export function putAbout(
  tx: Tx,
  owner: VaultOwner,
  { service }: VaultService,
  about: ReadonlyMap<string, About>,
): void {
  for (const [field, said] of about) {
    const place = { ...ofOwner(owner), service, field };
    const stored = store.findValue(tx, place);
    if (!stored) throw invalid(errorsOfAbout(about, new Set(store.listNames(tx, place, service).keys())));
    const { expires_at, note } = { expires_at: stored.expires_at, note: stored.note, ...said };
    store.setAbout(tx, { ...place, expires_at, note });
  }
}

/** How the shell stores a value anew. A database that was tampered with may have names that no shell takes for words. */
export function setCommand(
  slug: string,
  { environment, service, field }: Pick<VaultValueRow, 'environment' | 'service' | 'field'>,
): string {
  const option = environment === PRODUCTION ? '' : ` --environment ${shellWord(environment)}`;
  return `satchel vault set --project ${slug}${option} ${shellWord(service)} ${shellWord(field)}=-`;
}

/** What doctor says of values that end soon, or have. */
export function checkReminders(
  { database, clock }: { database: Database; clock: Clock },
  projects: readonly (VaultOwner & { readonly slug: string })[],
): Finding[] {
  const now_ms = clock.now();
  return projects.flatMap(({ id, slug }) =>
    store.listExpiring(database.read, id, now_ms + SECRET_REMINDER_DAYS * DAY_MS).map((row) => {
      const { environment, service, field, expires_at } = row;
      const ends_at = expires_at ?? 0;
      const of = environment === PRODUCTION ? '' : ` (${environment})`;
      const says = ends_at <= now_ms ? 'has ended' : 'ends';
      const message = `The vault value ${service}.${field} of project ${slug}${of} ${says} at ${toIso(ends_at)}.`;
      const remedy = `${setCommand(slug, row)} --expires DATE`;
      const find = ends_at - now_ms < PROBLEM_MS ? problem : warning;
      const found = aside(`${environment}.${service}.${field}`, find('expiring secrets', message, remedy));
      return about('vault', slug, found);
    }),
  );
}
