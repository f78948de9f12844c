/** Shapes of API keys, for the API and the command line alike. */
import { MAX_LIST_ENTRIES, MAX_NAME_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  momentOrNull,
  optional,
  preset,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import { named, nullable, oneOf, type Static, t, text } from '../../platform/http/schema.ts';
import { originRecord } from '../origins/service.ts';
import { projectRecord } from '../projects/service.ts';

const may = () => preset(false, t.Boolean());

/** A key as clients see it: without its secret and without its hash. */
export const FIELDS = {
  id: shown(t.Integer()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'what it is for' }),
  key_prefix: shown(t.String()),
  can_read: may(),
  can_write: may(),
  can_send_emails: may(),
  can_manage_email_marketing: may(),
  restricted: preset(false, t.Boolean(), {
    option: '--restricted',
    says: 'accept it only from allowed origins and apps',
    unset: 'accept it from anywhere',
  }),
  allow_no_origin: preset(
    false,
    t.Boolean({ description: 'With `restricted`: accept it from servers, which send no origin, too.' }),
    {
      option: '--allow-no-origin',
      says: 'with --restricted: accept it from servers, which send no origin, too',
      unset: 'no longer',
    },
  ),
  email_daily_limit: optional(
    null,
    t.Integer({ minimum: 0, description: 'Emails a UTC day; null for no limit.' }),
    { option: '--email-daily-limit <n>', says: 'emails a UTC day' },
  ),
  rate_limit_per_minute: optional(
    null,
    t.Integer({ minimum: 1, description: 'Requests a minute; null for the default.' }),
    { option: '--rate-limit <n>', says: 'requests a minute', null_word: 'default' },
  ),
  // Every request of the key reads them, so their number is bounded.
  permissions: optional(
    {},
    t.Record(t.String(), t.Boolean(), {
      maxProperties: MAX_LIST_ENTRIES,
      propertyNames: { maxLength: MAX_NAME_CHARS },
      description:
        'Further permissions: `email_template`, `captcha`; `upload`, which is POST /objects alone and needs no `can_write`; and ' +
        '`delete`: only false has a meaning, and takes DELETE /objects from a key that can write.',
    }),
  ),
  is_test: preset(false, t.Boolean(), {
    option: '--test',
    says: 'a test key: its mail is stored instead of delivered',
  }),
  is_active: shown(t.Boolean()),
  origins_count: shown(t.Integer()),
  purpose: shown(t.String(), 'what it may do and where from, in words'),
  last_used_at: momentOrNull('to the minute; null: never used'),
};
const { is_test, ...stays_open } = FIELDS;
export const CHANGED_FIELDS = { ...stays_open, is_active: preset(true, t.Boolean()) };

export const createKeyBody = named('NewApiKey', creationOf(FIELDS));
export type NewKeyInput = Static<typeof createKeyBody>;
export const updateKeyBody = named('ApiKeyChanges', changesOfFields(CHANGED_FIELDS));
export type KeyChanges = Static<typeof updateKeyBody>;
export const keyRecord = named('ApiKey', recordOf(FIELDS));
export type KeyRecord = Static<typeof keyRecord>;

export const plaintextKey = t.Object({ plaintext_key: t.String() });
export const keyWithPlaintext = named(
  'ApiKeyWithSecret',
  t.Object({ ...keyRecord.properties, plaintext_key: t.String() }),
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
