/** The fields of contacts, and the shapes of requests and answers about them. */
import {
  MAX_CONTACT_IDS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_CONTACT_REASON_CHARS,
  MAX_CONTACT_SOURCE_CHARS,
  MAX_CONTACT_TAGS,
  MAX_NAME_CHARS,
} from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  momentOrNull,
  optional,
  type RecordOfFields,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import { dateTime, named, nullable, oneOf, type Static, t, text, ulid } from '../../platform/http/schema.ts';
import { CONSENT_BASES } from '../lists/service.ts';
import { TELLERS, TRACKINGS } from '../tracking/service.ts';
import { contact_filter, segment_in_body } from './filter.ts';
import { CONTACT_STATUSES } from './tables.ts';

export type CustomValue = string | number | boolean;
export type CustomFields = Readonly<Record<string, CustomValue>>;

const tags = t.Array(t.String(), { description: `At most ${MAX_CONTACT_TAGS}.` });

export const FIELDS = {
  id: shown(ulid()),
  list: shown(ulid()),
  email: shown(t.String()),
  first_name: optional(null, text({ max: MAX_NAME_CHARS }), {
    option: '--first-name <name>',
    says: 'their first name',
  }),
  last_name: optional(null, text({ max: MAX_NAME_CHARS }), {
    option: '--last-name <name>',
    says: 'their last name',
  }),
  tags: optional([], tags, { option: '--tags <tags>', says: 'their tags' }),
  custom: optional(
    {},
    t.Record(t.String(), t.Unknown(), {
      description: 'Up to 50 fields; values are strings, numbers or booleans.',
    }),
    { option: '--custom <name=value>', says: 'a custom field' },
  ),
  status: shown(oneOf(CONTACT_STATUSES)),
  source: optional(null, text({ max: MAX_CONTACT_SOURCE_CHARS }), {
    option: '--source <text>',
    says: 'where the contact came from',
  }),
  reason: optional(null, text({ max: MAX_CONTACT_REASON_CHARS }), {
    option: '--reason <text>',
    says: 'why it may be mailed',
  }),
  contact_token: shown(t.String({ description: 'Stands for the contact in product events.' })),
  // The evidence that the address may be mailed.
  consent_basis: shown(t.String()),
  consent_at: moment(),
  consent_ip: shown(nullable(t.String())),
  consent_origin: shown(nullable(t.String())),
  source_platform: shown(t.String()),
  confirmed_at: momentOrNull(),
  tracking: optional(
    null,
    {
      ...oneOf(TRACKINGS),
      description:
        'Whether what they open and click may be counted: of the address, on all lists of the project. 409 (`tracking_chosen`) over a word of their own.',
    },
    {
      option: '--tracking <word>',
      says: 'whether what they open and click may be counted: allowed or refused',
    },
  ),
  tracking_evidence: shown(
    nullable(
      t.Object({
        at: dateTime(),
        by: { ...oneOf(TELLERS), description: 'A `page` or a `form` is their own word.' },
        ip: nullable(t.String()),
        origin: nullable(t.String()),
      }),
    ),
  ),
  paused_until: momentOrNull('until when they get no marketing mail, as they chose on their page'),
  created_at: moment(),
  updated_at: moment(),
};
export type ContactRecord = RecordOfFields<typeof FIELDS>;

/** Those of a new one: its address and the evidence never change. */
export const NEW_FIELDS = {
  ...FIELDS,
  // Judged by the pipeline, which answers invalid_syntax.
  email: required(text({ min: 1, max: MAX_CONTACT_QUERY_CHARS })),
  consent_basis: optional(
    null,
    { ...oneOf(CONSENT_BASES), description: "Default: the list's." },
    { option: '--basis <basis>', says: 'its consent; that of the list unless given' },
  ),
  consent_at: optional(
    null,
    { ...dateTime(), description: 'When consent was given; default now.' },
    { option: '--consent-at <time>', says: 'when that was given; now unless given' },
  ),
  consent_ip: optional(null, text({ max: 45 })),
  consent_origin: optional(
    null,
    text({ max: MAX_CONTACT_SOURCE_CHARS, description: 'The page of the form.' }),
  ),
  source_platform: optional(
    'api',
    text({ min: 1, max: 64, description: 'A lowercase slug; default `api`.' }),
  ),
};
export const creation = named('NewContact', creationOf(NEW_FIELDS));
export const contact_changes = named('ContactChanges', changesOfFields(FIELDS));
/** What may be changed of a contact; null clears. Its status and its evidence never change this way. */
export type ContactChanges = Partial<Static<typeof contact_changes>>;
export const record = named('Contact', recordOf(FIELDS));

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
    segment: segment_in_body,
    add: t.Optional(nullable(tags)),
    remove: t.Optional(nullable(tags)),
  }),
);

/** Contract: names of each kind. */
export const MAX_FACETS = 200;
const facet = { name: t.String(), count: t.Integer({ description: 'Contacts that have it.' }) };
const value = t.Union([t.String(), t.Number(), t.Boolean()]);
export const facets = named(
  'ListFacets',
  t.Object({
    tags: t.Array(t.Object(facet)),
    custom: t.Array(
      t.Object({
        ...facet,
        samples: t.Array(value, { description: 'Up to five values that newer contacts have.' }),
      }),
    ),
    events: t.Array(t.Object(facet)),
  }),
);
