/** Shapes of what a search finds. */
import { MAX_SEARCH_CHARS } from '../../limits.ts';
import { dateTime, named, nullable, type Static, t, text, ulid } from '../../platform/http/schema.ts';

export const searchQuery = t.Object({
  q: {
    ...text({
      min: 1,
      max: MAX_SEARCH_CHARS,
      description:
        'Part of the name or slug of a project, part of the name or the beginning of a key, the beginning of a file name or of an ' +
        'address, or the id of a mail. ASCII case is ignored, but for the beginning of a key.',
    }),
    example: 'ann@example.org',
  },
});

const project = named('FoundIn', t.Object({ public_id: ulid(), name: t.String(), slug: t.String() }));

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
        list: t.Object({ id: ulid(), name: t.String() }),
        project,
      }),
    ),
  }),
);
export type SearchResult = Static<typeof searchResult>;
