/** The fields of segments, and the shapes of requests and answers about them. */
import { MAX_NAME_CHARS } from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  type RecordOfFields,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { named, type Static, t, text, ulid } from '../../platform/http/schema.ts';
import { contact_filter } from '../contacts/service.ts';

/** Those that may change: a filter names broadcasts and sequences of its list, so that it stays on it. */
export const CHANGEABLE = {
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'its name' }),
  filter: required(contact_filter, { stored: t.Unsafe<Record<string, unknown>>(contact_filter) }),
};

export const FIELDS = {
  id: shown(ulid()),
  list: required(ulid(), {
    option: '--list <list>',
    says: 'the list whose contacts it means: its id or name',
  }),
  ...CHANGEABLE,
  filter_sentence: shown(t.String({ description: 'Its filter as one sentence.' })),
  created_at: moment(),
  updated_at: moment(),
};
export type SegmentRecord = RecordOfFields<typeof FIELDS> & { contacts_count?: number };

export const creation = named('NewSegment', creationOf(FIELDS));
export type NewSegment = Static<typeof creation>;
export const changes = named('SegmentChanges', changesOfFields(CHANGEABLE));
export type SegmentChanges = Partial<Static<typeof changes>>;
export const record = named(
  'Segment',
  t.Object({
    ...recordOf(FIELDS).properties,
    contacts_count: t.Optional(
      t.Integer({
        description:
          'Of one that is asked for alone: how many a broadcast to it would reach now, who are active, fit and are not suppressed.',
      }),
    ),
  }),
);

export const asked_filter = t.Object({ filter: contact_filter });
export const match = named(
  'FilterMatch',
  t.Object({
    contacts_count: t.Integer({ description: 'How many a broadcast to them would reach now.' }),
    sentence: t.String({ description: 'The filter as one sentence.' }),
    samples: t.Array(t.String(), {
      description: 'Addresses of them, five at most, the longest on the list first.',
    }),
  }),
);
export type Match = Static<typeof match>;

export const of_list = t.Object({
  ...pageQuery,
  list: t.Optional({ ...ulid(), description: 'Only those of this list.' }),
});
