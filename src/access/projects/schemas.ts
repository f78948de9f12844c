/** Shapes of projects, for the API and the command line alike. */
import {
  MAX_APP_ID_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_LIST_ENTRIES,
  MAX_NAME_CHARS,
  MAX_NOTES_CHARS,
  MAX_URL_CHARS,
} from '../../limits.ts';
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
  webUrl,
} from '../../platform/http/schema.ts';

export const projectStatus = oneOf(['active', 'inactive']);

const name = text({ min: 1, max: MAX_NAME_CHARS });
const slug = text({
  min: 1,
  max: MAX_NAME_CHARS,
  description: 'Lowercase letters, digits and hyphens; neither digits only nor shaped like a ULID.',
});
const words = t.Array(text({ min: 1, max: MAX_NAME_CHARS }), { maxItems: MAX_LIST_ENTRIES });

const optional = {
  notes: text({ max: MAX_NOTES_CHARS }),
  description: text({ max: MAX_NOTES_CHARS }),
  app_identifier: text({ max: MAX_APP_ID_CHARS, description: 'Reverse-DNS app id.' }),
  primary_url: webUrl(MAX_URL_CHARS),
  repo_url: webUrl(MAX_URL_CHARS),
  repo_is_public: t.Boolean(),
  platforms: words,
  tech_stack: words,
  sending_domain: text({
    min: 1,
    max: MAX_DNS_NAME_CHARS,
    description:
      'The sending domain of mail that names none, one of `sending_domains`; null: the default domain, else the first of those. ' +
      'Needs `can_administer`.',
  }),
  sending_domains: t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
    minItems: 1,
    maxItems: MAX_LIST_ENTRIES,
    description:
      'The sending domains that the project may send from, as others may; null: all. Any other is to it as one not there. ' +
      'Needs `can_administer`.',
  }),
};

/** A project as the records of tokens and people name it. */
export const abbreviatedProject = t.Object({
  id: t.Integer(),
  public_id: t.String(),
  name: t.String(),
  slug: t.String(),
});
export type AbbreviatedProject = Static<typeof abbreviatedProject>;

export const createProjectBody = named(
  'NewProject',
  t.Object({
    name,
    slug: t.Optional(slug),
    status: t.Optional(projectStatus),
    ...optionals(optional),
  }),
);
export type NewProjectInput = Static<typeof createProjectBody>;

export const updateProjectBody = named(
  'ProjectChanges',
  changesOf({
    name,
    slug,
    status: projectStatus,
    ...nullables(optional),
    database_project_id: nullable(t.Union([t.Integer({ minimum: 1 }), text({ min: 1, max: 26 })])),
    link_domain: nullable(
      text({
        min: 1,
        max: MAX_DNS_NAME_CHARS,
        description:
          "A host name of the project's own that leads to this Satchel: once it does, links in its mails and its public pages " +
          'begin with it. Asked for at once. Needs `can_administer`.',
      }),
    ),
  }),
);
export type ProjectChanges = Static<typeof updateProjectBody>;

/** What a project looks like to clients. */
const projectShape = {
  id: t.Integer(),
  public_id: t.String(),
  name: t.String(),
  slug: t.String(),
  status: projectStatus,
  notes: nullable(t.String()),
  description: nullable(t.String()),
  app_identifier: nullable(t.String()),
  primary_url: nullable(t.String()),
  repo_url: nullable(t.String()),
  repo_is_public: nullable(t.Boolean()),
  platforms: t.Array(t.String()),
  tech_stack: t.Array(t.String()),
  sending_domain: nullable(t.String({ description: 'Null: the default domain, else the first of its own.' })),
  sending_domains: nullable(t.Array(t.String(), { description: 'Null: all.' })),
  database_project_id: nullable(t.Integer()),
  link_domain: nullable(
    t.String({ description: 'Its links and public pages begin with it while it is active.' }),
  ),
  link_domain_status: nullable({
    ...oneOf(['pending', 'active', 'failing']),
    description: '`failing` after two looks in a row that it did not lead here; looked at each hour.',
  }),
  link_domain_problem: nullable(t.String({ description: 'Of the last look, why it does not lead here.' })),
  created_at: t.String({ format: 'date-time' }),
};
export const projectRecord = named('Project', t.Object(projectShape));
export type ProjectRecord = Static<typeof projectRecord>;

const abbreviatedKey = named(
  'AbbreviatedApiKey',
  t.Object({
    id: t.Integer(),
    name: t.String(),
    key_prefix: t.String(),
    restricted: t.Boolean(),
    is_active: t.Boolean(),
  }),
);
export type AbbreviatedKey = Static<typeof abbreviatedKey>;

export const projectWithKeys = named(
  'ProjectWithKeys',
  t.Object({ ...projectShape, api_keys: t.Array(abbreviatedKey) }),
);
export type ProjectWithKeys = Static<typeof projectWithKeys>;
export const projectWithKeyCount = named(
  'ProjectWithKeyCount',
  t.Object({ ...projectShape, api_keys_count: t.Integer() }),
);

const cascadeCounts = named(
  'CascadeCounts',
  t.Object({
    api_keys: t.Integer(),
    stored_objects: t.Integer(),
    vault_credentials: t.Integer(),
    vault_files: t.Integer(),
    links: t.Integer(),
    vault_reveals: t.Integer(),
    email_lists: t.Integer(),
    email_contacts: t.Integer(),
    email_suppressions: t.Integer(),
    email_sequences: t.Integer(),
    email_broadcasts: t.Integer(),
    email_imports: t.Integer(),
  }),
);
export type CascadeCounts = Static<typeof cascadeCounts>;

export const deletedProject = t.Object({ deleted: t.Boolean(), cascade: cascadeCounts });
