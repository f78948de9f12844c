/** Shapes of stored objects, for the API and the command line alike. */
import { MAX_EXPIRES_IN_DAYS, MAX_OBJECT_LINK_S, MIN_EXPIRES_IN_DAYS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  ulid,
} from '../../platform/http/schema.ts';

const visibility = oneOf(['public', 'private']);
const DAYS = { minimum: MIN_EXPIRES_IN_DAYS, maximum: MAX_EXPIRES_IN_DAYS };

export const uploadForm = t.Object({
  file: t.String({ format: 'binary' }),
  visibility: t.Optional({ ...visibility, example: 'private' }),
  expires_in_days: t.Optional(t.Integer({ ...DAYS, example: 30 })),
  expires_at: t.Optional({ ...dateTime(), example: '2040-01-31T09:00:00Z' }),
});

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
