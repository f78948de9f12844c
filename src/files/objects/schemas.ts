/** Shapes of stored objects, for the API and the command line alike. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  oneOf,
  parseDateTime,
  type Static,
  t,
  ulid,
} from '../../platform/http/schema.ts';
import type { Visibility } from './store.ts';

/** Contract: expires_in_days. */
const MIN_EXPIRES_IN_DAYS = 1;
const MAX_EXPIRES_IN_DAYS = 3_650;
/** Contract: a signed link opens its file for a week at most. */
const MAX_OBJECT_LINK_S = 7 * 86_400;

const visibility = oneOf(['public', 'private']);
const DAYS = { minimum: MIN_EXPIRES_IN_DAYS, maximum: MAX_EXPIRES_IN_DAYS };

export const uploadForm = t.Object({
  file: t.String({ format: 'binary' }),
  visibility: t.Optional({ ...visibility, example: 'private' }),
  expires_in_days: t.Optional(t.Integer({ ...DAYS, example: 30 })),
  expires_at: t.Optional({ ...dateTime(), example: '2040-01-31T09:00:00Z' }),
});

/**
 * What the fields ask for. A blank field, as forms send it, counts as omitted. Throws AppError `invalid` with
 * what is wrong here and what was found wrong before.
 */
export function readUploadFields(
  fields: Readonly<Record<string, string>>,
  now_ms: number,
  found: FieldErrors = {},
): { visibility: Visibility; expires_at: number | null } {
  const errors: FieldErrors = { ...found };
  const given = (name: string): string | null =>
    Object.hasOwn(fields, name) ? fields[name]?.trim() || null : null;
  const visibility = given('visibility') ?? 'private';
  if (visibility !== 'public' && visibility !== 'private')
    errors.visibility = ['must be one of: public, private'];
  const days = given('expires_in_days');
  const day_count = days !== null && /^\d{1,6}$/.test(days) ? Number(days) : Number.NaN;
  if (days !== null && !(day_count >= MIN_EXPIRES_IN_DAYS && day_count <= MAX_EXPIRES_IN_DAYS)) {
    errors.expires_in_days = [`must be a whole number from ${MIN_EXPIRES_IN_DAYS} to ${MAX_EXPIRES_IN_DAYS}`];
  }
  const at = given('expires_at');
  const at_ms = at === null ? null : parseDateTime(at);
  if (at !== null && at_ms === null)
    errors.expires_at = ['must be an ISO 8601 date-time, such as 2030-01-31T09:00:00Z'];
  else if (at_ms !== null && at_ms <= now_ms) errors.expires_at = ['must be in the future'];
  refuseAll(errors);
  return {
    visibility: visibility === 'public' ? 'public' : 'private',
    expires_at: at_ms ?? (days === null ? null : now_ms + day_count * DAY_MS),
  };
}

/** The upload response of the contract. */
const stored = {
  public_id: ulid(),
  project_id: ulid(),
  visibility,
  mime_type: t.String(),
  size_bytes: t.Integer(),
  url: t.String({ format: 'uri' }),
  expires_at: nullable(dateTime()),
};
export const storedObject = named('StoredObject', t.Object(stored));
export type StoredObject = Static<typeof storedObject>;

export const objectChanges = changesOf({
  visibility,
  original_filename: t.String({ minLength: 1, description: 'Cleaned as at upload.' }),
  expires_in_days: nullable(t.Integer({ ...DAYS, description: 'From now; null is never.' })),
});
export type ObjectChanges = Static<typeof objectChanges>;

export const changedObject = named('ChangedObject', t.Object({ ...stored, original_filename: t.String() }));
export type ChangedObject = Static<typeof changedObject>;

export const listedObject = named(
  'ListedObject',
  t.Object({
    public_id: ulid(),
    original_filename: t.String(),
    mime_type: t.String(),
    size_bytes: t.Integer(),
    visibility,
    url: t.String({ format: 'uri' }),
    created_at: dateTime(),
  }),
);
export type ListedObject = Static<typeof listedObject>;

/** The full record, which the management plane answers where the data plane sends the bytes. */
export const objectRecord = named(
  'ObjectRecord',
  t.Object({
    ...listedObject.properties,
    project_id: ulid(),
    sha256: t.String(),
    store: oneOf(['local', 'database', 's3']),
    expires_at: nullable(dateTime()),
  }),
);
export type ObjectRecord = Static<typeof objectRecord>;

export const linkWishes = t.Object({
  expires_in_seconds: t.Integer({ minimum: 1, maximum: MAX_OBJECT_LINK_S }),
  download: t.Optional(t.Boolean({ description: 'Whether the link downloads instead of showing.' })),
});
export type LinkWishes = Static<typeof linkWishes>;

export const objectLink = named(
  'ObjectLink',
  t.Object({ url: t.String({ format: 'uri' }), expires_at: dateTime() }),
);
export type ObjectLink = Static<typeof objectLink>;
