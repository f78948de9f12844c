/** Shapes of API keys, for the API and the command line alike. */
import { MAX_LIST_ENTRIES, MAX_NAME_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import {
  changesOf,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';
import { originRecord } from '../origins/service.ts';
import { projectRecord } from '../projects/service.ts';

const name = text({ min: 1, max: MAX_NAME_CHARS });
const limits = {
  email_daily_limit: t.Integer({ minimum: 0, description: 'Emails a UTC day; null for no limit.' }),
  rate_limit_per_minute: t.Integer({ minimum: 1, description: 'Requests a minute; null for the default.' }),
  // Every request of the key reads them, so their number is bounded.
  permissions: t.Record(t.String(), t.Boolean(), {
    maxProperties: MAX_LIST_ENTRIES,
    propertyNames: { maxLength: MAX_NAME_CHARS },
    description:
      'Further permissions: `email_template`, `captcha`; `upload`, which is POST /objects alone and needs no `can_write`; and ' +
      '`delete`: only false has a meaning, and takes DELETE /objects from a key that can write.',
  }),
};
const flag = t.Optional(t.Boolean());

export const createKeyBody = named(
  'NewApiKey',
  t.Object({
    name,
    can_read: flag,
    can_write: flag,
    can_send_emails: flag,
    can_manage_email_marketing: flag,
    restricted: flag,
    allow_no_origin: flag,
    is_test: flag,
    ...optionals(limits),
  }),
);
export type NewKeyInput = Static<typeof createKeyBody>;

export const updateKeyBody = named(
  'ApiKeyChanges',
  changesOf({
    name,
    can_read: t.Boolean(),
    can_write: t.Boolean(),
    can_send_emails: t.Boolean(),
    can_manage_email_marketing: t.Boolean(),
    restricted: t.Boolean(),
    allow_no_origin: t.Boolean(),
    is_active: t.Boolean(),
    ...nullables(limits),
  }),
);
export type KeyChanges = Static<typeof updateKeyBody>;

/** A key as clients see it: without its secret and without its hash. */
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
export const keyRecord = named('ApiKey', t.Object(keyShape));
export type KeyRecord = Static<typeof keyRecord>;

export const plaintextKey = t.Object({ plaintext_key: t.String() });
export const keyWithPlaintext = named(
  'ApiKeyWithSecret',
  t.Object({ ...keyShape, plaintext_key: t.String() }),
);
export type KeyWithPlaintext = Static<typeof keyWithPlaintext>;

export const deletedKey = named(
  'DeletedApiKey',
  t.Object({ deleted: t.Boolean(), cascade: t.Object({ origins: t.Integer() }) }),
);

export const lookupBody = t.Object({ api_key: text({ min: 1, max: MAX_NAME_CHARS }) });
export const lookupAnswer = t.Object({
  project: projectRecord,
  api_key: keyRecord,
  origins: t.Array(originRecord),
});

/** A request that might be made with a key: would it be accepted? */
export const whyBody = t.Object({
  origin: t.Optional(nullable(text({ max: MAX_URL_CHARS, description: 'The Origin that a browser sends.' }))),
  app_id: t.Optional(nullable(text({ max: MAX_URL_CHARS, description: 'The X-App-Id that an app sends.' }))),
  cert_fingerprint: t.Optional(
    nullable(text({ max: MAX_URL_CHARS, description: 'The X-Android-Cert that an app sends.' })),
  ),
});
export type WhyInput = Static<typeof whyBody>;

export const whyAnswer = named(
  'KeyVerdict',
  t.Object({
    accepted: t.Boolean(),
    code: nullable(t.String()),
    why: t.String(),
    rule: nullable(
      t.Object({
        id: t.Integer(),
        type: oneOf(['domain', 'android', 'ios']),
        value: t.String(),
        scope: oneOf(['own', 'global']),
      }),
    ),
  }),
);
export type KeyVerdict = Static<typeof whyAnswer>;
