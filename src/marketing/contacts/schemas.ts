/** Shapes of requests and answers about contacts. */
import {
  MAX_CONTACT_IDS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_CONTACT_REASON_CHARS,
  MAX_CONTACT_SOURCE_CHARS,
  MAX_CONTACT_TAGS,
  MAX_NAME_CHARS,
} from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { CONSENT_BASES } from '../lists/service.ts';
import { CONTACT_STATUSES, contact_filter } from './service.ts';

export type CustomValue = string | number | boolean;
export type CustomFields = Readonly<Record<string, CustomValue>>;

const tags = t.Array(t.String(), { description: `At most ${MAX_CONTACT_TAGS}.` });
const custom = t.Record(t.String(), t.Unknown(), {
  description: 'Up to 50 fields; values are strings, numbers or booleans.',
});
const changeable = {
  first_name: text({ max: MAX_NAME_CHARS }),
  last_name: text({ max: MAX_NAME_CHARS }),
  tags: tags,
  custom: custom,
  source: text({ max: MAX_CONTACT_SOURCE_CHARS, description: 'Where the contact came from.' }),
  reason: text({ max: MAX_CONTACT_REASON_CHARS, description: 'Why it may be mailed.' }),
};
export const creation = named(
  'NewContact',
  t.Object({
    // Judged by the pipeline, which answers invalid_syntax.
    email: text({ min: 1, max: MAX_CONTACT_QUERY_CHARS }),
    ...optionals(changeable),
    consent_basis: t.Optional({ ...oneOf(CONSENT_BASES), description: "Default: the list's." }),
    consent_at: t.Optional({ ...dateTime(), description: 'When consent was given; default now.' }),
    consent_ip: t.Optional(text({ max: 45 })),
    consent_origin: t.Optional(text({ max: MAX_CONTACT_SOURCE_CHARS, description: 'The page of the form.' })),
    source_platform: t.Optional(text({ min: 1, max: 64, description: 'A lowercase slug; default `api`.' })),
  }),
);

export const contact_changes = named('ContactChanges', changesOf(nullables(changeable)));

export const record = named(
  'Contact',
  t.Object({
    id: ulid(),
    list: ulid(),
    email: t.String(),
    first_name: nullable(t.String()),
    last_name: nullable(t.String()),
    tags: t.Array(t.String()),
    custom,
    status: oneOf(CONTACT_STATUSES),
    source: nullable(t.String()),
    reason: nullable(t.String()),
    contact_token: t.String({ description: 'Stands for the contact in product events.' }),
    consent_basis: t.String(),
    consent_at: dateTime(),
    consent_ip: nullable(t.String()),
    consent_origin: nullable(t.String()),
    source_platform: t.String(),
    confirmed_at: nullable(dateTime()),
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);

export const found_contact = named(
  'FoundContact',
  t.Object({
    id: ulid(),
    list: ulid(),
    list_name: t.String(),
    email: t.String(),
    first_name: nullable(t.String()),
    last_name: nullable(t.String()),
    status: oneOf(CONTACT_STATUSES),
    created_at: dateTime(),
  }),
);

export const held = t.Object(
  {
    email: t.String(),
    contacts: t.Array(named('ContactOnList', t.Object({ ...record.properties, list_name: t.String() }))),
    suppression: nullable(t.Record(t.String(), t.Unknown())),
  },
  {
    additionalProperties: t.Array(t.Unknown()),
    description: 'Beside the contacts, what else holds the address: its mails, events, enrollments.',
  },
);

export const bulk_tag = named(
  'BulkTag',
  t.Object({
    contact_ids: t.Optional(nullable(t.Array(ulid(), { minItems: 1, maxItems: MAX_CONTACT_IDS }))),
    filter: t.Optional(nullable(contact_filter)),
    add: t.Optional(nullable(tags)),
    remove: t.Optional(nullable(tags)),
  }),
);
