/** Shapes of origins, for the API and the command line alike. */
import { MAX_LIST_ENTRIES, MAX_NAME_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import { changesOfFields, creationOf, optional, required } from '../../platform/http/fields.ts';
import { named, nullable, oneOf, type Static, t, text } from '../../platform/http/schema.ts';

/** Contract: candidates of one origin check. */
const MAX_ORIGIN_CHECKS = 50;

const originType = oneOf(['domain', 'android', 'ios']);
const fingerprints = t.Array(t.String(), {
  maxItems: MAX_LIST_ENTRIES,
  description: 'Certificates that an android app must be signed with; hex, colons optional.',
});

/** What may be set of a rule. */
export const FIELDS = {
  type: required(originType, { option: '--type <type>', says: 'what it names' }),
  /** A generous bound; the matcher refuses much shorter texts that are no origin. */
  value: required(text({ min: 1, max: MAX_URL_CHARS }), {
    option: '--value <value>',
    says: 'a host or origin, an Android package or an iOS bundle id',
  }),
  sha256_fingerprints: optional([], fingerprints, {
    option: '--sha256 <fingerprint>',
    says: 'android: accept only apps signed with this; may be repeated',
  }),
  sha1_fingerprints: optional([], fingerprints, {
    option: '--sha1 <fingerprint>',
    says: 'android: as --sha256, with SHA-1',
  }),
};
export const GLOBAL_FIELDS = {
  ...FIELDS,
  note: optional(null, text({ max: MAX_NAME_CHARS }), { option: '--note <text>', says: 'why it is there' }),
};

export const createOriginBody = named('NewOrigin', creationOf(FIELDS));
export type NewOriginInput = Static<typeof createOriginBody>;
export const newGlobalOrigin = named('NewGlobalOrigin', creationOf(GLOBAL_FIELDS));
export type NewGlobalOriginInput = Static<typeof newGlobalOrigin>;
export const updateOriginBody = named('OriginChanges', changesOfFields(FIELDS));
export type OriginChanges = Static<typeof updateOriginBody>;

export const originRecord = named(
  'Origin',
  t.Object({
    id: t.Integer(),
    type: originType,
    value: t.String(),
    /** For android only. */
    sha256_fingerprints: t.Optional(t.Array(t.String())),
    sha1_fingerprints: t.Optional(t.Array(t.String())),
  }),
);
export type OriginRecord = Static<typeof originRecord>;

export const globalOriginRecord = named(
  'GlobalOrigin',
  t.Object({
    id: t.Integer(),
    type: originType,
    value: t.String(),
    sha256_fingerprints: t.Array(t.String()),
    sha1_fingerprints: t.Array(t.String()),
    note: nullable(t.String()),
    created_at: t.String({ format: 'date-time' }),
  }),
);
export type GlobalOriginRecord = Static<typeof globalOriginRecord>;

export const deletedOrigin = t.Object({ deleted: t.Boolean() });

export const deletedGlobalOrigin = t.Object({
  deleted: t.Literal(true),
  restricted_keys: t.Integer({ description: 'Active keys that may have relied on it.' }),
});

export const checkOriginsBody = t.Object({
  origins: t.Array(
    t.Object({
      type: originType,
      value: t.String({ maxLength: MAX_URL_CHARS }),
      cert_fingerprint: t.Optional(nullable(t.String())),
    }),
    { maxItems: MAX_ORIGIN_CHECKS },
  ),
});

export const originVerdict = named(
  'OriginVerdict',
  t.Object({
    type: originType,
    value: t.String(),
    canonical_value: nullable(t.String()),
    covered: t.Boolean(),
    matched_by: nullable(t.Object({ id: t.Integer(), value: t.String(), note: nullable(t.String()) })),
    reason: t.Optional(
      t.Object({
        code: oneOf(['INVALID_ORIGIN', 'CERT_FINGERPRINT_REQUIRED', 'CERT_FINGERPRINT_NOT_ALLOWED']),
        message: t.String(),
      }),
    ),
  }),
);
