/** Shapes of API keys and origins, for the API and the command line alike. */
import { MAX_LIST_ENTRIES, MAX_NAME_CHARS, MAX_ORIGIN_CHECKS, MAX_URL_CHARS } from '../limits.ts';
import { nullable, oneOf, type Static, t, text } from '../platform/http/schema.ts';
import { projectRecord } from '../projects/service.ts';

/* --- Keys ------------------------------------------------------------------------------------------------------ */

const name = text({ min: 1, max: MAX_NAME_CHARS });
const limits = {
  email_daily_limit: t.Optional(
    nullable(t.Integer({ minimum: 0, description: 'Emails a UTC day; null for no limit.' })),
  ),
  rate_limit_per_minute: t.Optional(
    nullable(t.Integer({ minimum: 1, description: 'Requests a minute; null for the default.' })),
  ),
  permissions: t.Optional(
    nullable(
      t.Record(t.String(), t.Boolean(), { description: 'Further permissions: `email_template`, `captcha`.' }),
    ),
  ),
};
const flag = t.Optional(t.Boolean());

export const createKeyBody = t.Object({
  name,
  can_read: flag,
  can_write: flag,
  can_send_emails: flag,
  can_manage_email_marketing: flag,
  restricted: flag,
  allow_no_origin: flag,
  is_test: flag,
  ...limits,
});
export type NewKeyInput = Static<typeof createKeyBody>;

/** What must have a value takes null here only to be refused by name: left out, null would be ignored in silence. */
const changedFlag = t.Optional(nullable(t.Boolean()));
export const updateKeyBody = t.Object({
  name: t.Optional(nullable(name)),
  can_read: changedFlag,
  can_write: changedFlag,
  can_send_emails: changedFlag,
  can_manage_email_marketing: changedFlag,
  restricted: changedFlag,
  allow_no_origin: changedFlag,
  is_active: changedFlag,
  ...limits,
});
export type KeyChanges = Static<typeof updateKeyBody>;

/** The safe representation: neither the key nor its hash. */
const keyShape = {
  id: t.Integer(),
  name: t.String(),
  key_prefix: t.String(),
  can_read: t.Boolean(),
  can_write: t.Boolean(),
  can_send_emails: t.Boolean(),
  can_manage_email_marketing: t.Boolean(),
  restricted: t.Boolean(),
  allow_no_origin: t.Boolean(),
  email_daily_limit: nullable(t.Integer()),
  rate_limit_per_minute: nullable(t.Integer()),
  permissions: t.Record(t.String(), t.Boolean()),
  is_test: t.Boolean(),
  is_active: t.Boolean(),
  origins_count: t.Integer(),
};
export const keyRecord = t.Object(keyShape);
export type KeyRecord = Static<typeof keyRecord>;

export const plaintextKey = t.Object({ plaintext_key: t.String() });
export const keyWithPlaintext = t.Object({ ...keyShape, plaintext_key: t.String() });
export type KeyWithPlaintext = Static<typeof keyWithPlaintext>;

export const deletedKey = t.Object({ deleted: t.Boolean(), cascade: t.Object({ origins: t.Integer() }) });

/* --- Origins --------------------------------------------------------------------------------------------------- */

const originType = oneOf(['domain', 'android', 'ios']);
/** Whatever is longer is no origin either; the matcher says so for less. */
const originValue = text({ min: 1, max: MAX_URL_CHARS });
const fingerprints = t.Optional(
  nullable(
    t.Array(t.String(), {
      maxItems: MAX_LIST_ENTRIES,
      description: 'Certificates that an android app must be signed with; hex, colons optional.',
    }),
  ),
);

export const createOriginBody = t.Object({
  type: originType,
  value: originValue,
  sha256_fingerprints: fingerprints,
  sha1_fingerprints: fingerprints,
});
export type NewOriginInput = Static<typeof createOriginBody>;

export const newGlobalOrigin = t.Object({
  ...createOriginBody.properties,
  note: t.Optional(nullable(text({ max: MAX_NAME_CHARS }))),
});
export type NewGlobalOriginInput = Static<typeof newGlobalOrigin>;

export const updateOriginBody = t.Object({
  type: t.Optional(originType),
  value: t.Optional(nullable(originValue)),
  sha256_fingerprints: fingerprints,
  sha1_fingerprints: fingerprints,
});
export type OriginChanges = Static<typeof updateOriginBody>;

export const originRecord = t.Object({
  id: t.Integer(),
  type: originType,
  value: t.String(),
  /** For android only. */
  sha256_fingerprints: t.Optional(t.Array(t.String())),
  sha1_fingerprints: t.Optional(t.Array(t.String())),
});
export type OriginRecord = Static<typeof originRecord>;

export const globalOriginRecord = t.Object({
  id: t.Integer(),
  type: originType,
  value: t.String(),
  sha256_fingerprints: t.Array(t.String()),
  sha1_fingerprints: t.Array(t.String()),
  note: nullable(t.String()),
  created_at: t.String({ format: 'date-time' }),
});
export type GlobalOriginRecord = Static<typeof globalOriginRecord>;

export const deletedOrigin = t.Object({ deleted: t.Boolean() });

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

export const originVerdict = t.Object({
  type: originType,
  value: t.String(),
  canonical_value: nullable(t.String()),
  covered: t.Boolean(),
  matched_by: nullable(t.Object({ id: t.Integer(), value: t.String(), note: nullable(t.String()) })),
  reason: t.Optional(t.Object({ code: t.String(), message: t.String() })),
});

/* --- Lookup ---------------------------------------------------------------------------------------------------- */

export const lookupBody = t.Object({ api_key: text({ min: 1, max: MAX_NAME_CHARS }) });
export const lookupAnswer = t.Object({
  project: projectRecord,
  api_key: keyRecord,
  origins: t.Array(originRecord),
});
