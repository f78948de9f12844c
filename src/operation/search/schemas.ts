/** The shape of what a search finds. */
import { dateTime, named, nullable, optionals, type Static, t, ulid } from '../../platform/http/schema.ts';

const project = named('FoundIn', t.Object({ public_id: ulid(), name: t.String(), slug: t.String() }));

const list = t.Object({ id: ulid(), name: t.String() });
const ONLY_ADMINISTER = { description: 'With `can_administer` only.' };

export const searchResult = named(
  'SearchResult',
  t.Object({
    projects: t.Array(
      t.Object({
        id: t.Integer(),
        public_id: ulid(),
        name: t.String(),
        slug: t.String(),
        status: t.String(),
      }),
    ),
    api_keys: t.Array(
      t.Object({
        id: t.Integer(),
        name: t.String(),
        key_prefix: t.String(),
        is_active: t.Boolean(),
        project,
      }),
    ),
    objects: t.Array(
      t.Object({
        public_id: ulid(),
        original_filename: t.String(),
        mime_type: t.String(),
        size_bytes: t.Integer(),
        visibility: t.String(),
        created_at: dateTime(),
        project,
      }),
    ),
    emails: t.Array(
      t.Object({
        id: ulid(),
        to: t.String(),
        subject: t.String(),
        status: t.String(),
        created_at: dateTime(),
        project,
      }),
    ),
    contacts: t.Array(
      t.Object({
        id: ulid(),
        email: t.String(),
        first_name: nullable(t.String()),
        last_name: nullable(t.String()),
        status: t.String(),
        list,
        project,
      }),
    ),
    lists: t.Array(t.Object({ id: ulid(), name: t.String(), archived: t.Boolean(), project })),
    segments: t.Array(t.Object({ id: ulid(), name: t.String(), list, project })),
    templates: t.Array(t.Object({ slug: t.String(), name: t.String(), subject: t.String(), project })),
    sequences: t.Array(t.Object({ id: ulid(), name: t.String(), status: t.String(), project })),
    broadcasts: t.Array(
      t.Object({
        id: ulid(),
        name: t.String(),
        subject: nullable(t.String({ description: 'Of its template; null without one.' })),
        status: t.String(),
        project,
      }),
    ),
    schedules: t.Array(t.Object({ id: ulid(), name: t.String(), is_active: t.Boolean(), project })),
    webhooks: t.Array(t.Object({ id: ulid(), url: t.String(), description: nullable(t.String()), project })),
    ...optionals({
      sending_domains: t.Array(t.Object({ name: t.String() }), ONLY_ADMINISTER),
      mailboxes: t.Array(t.Object({ address: t.String() }), ONLY_ADMINISTER),
      people: t.Array(
        t.Object({ id: t.Integer(), email: t.String(), name: nullable(t.String()) }),
        ONLY_ADMINISTER,
      ),
      tokens: t.Array(t.Object({ id: t.Integer(), name: t.String() }), ONLY_ADMINISTER),
    }),
  }),
);
export type SearchResult = Static<typeof searchResult>;
