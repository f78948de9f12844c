/** Shapes of projects, for the API and the command line alike. */
import {
  MAX_APP_ID_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_LIST_ENTRIES,
  MAX_NAME_CHARS,
  MAX_URL_CHARS,
} from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  optional,
  preset,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import { named, nullable, oneOf, type Static, t, text, webUrl } from '../../platform/http/schema.ts';

/** A text that an admin writes about a project: more than anybody needs, less than what slows lists down. */
const MAX_NOTES_CHARS = 10_000;

export const projectStatus = oneOf(['active', 'inactive']);

const MAIL_FATES = ['relayed', 'captured', 'refused'] as const;
export type MailFate = (typeof MAIL_FATES)[number];

const domain = { min: 1, max: MAX_DNS_NAME_CHARS };
const words = t.Array(text({ min: 1, max: MAX_NAME_CHARS }), { maxItems: MAX_LIST_ENTRIES });
const link_domain = t.String({ description: 'Its links and public pages begin with it while it is active.' });

export const FIELDS = {
  id: shown(t.Integer()),
  public_id: shown(t.String()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'its name' }),
  slug: preset(
    '',
    text({
      min: 1,
      max: MAX_NAME_CHARS,
      description: 'Lowercase letters, digits and hyphens; neither digits only nor shaped like a ULID.',
    }),
    { option: '--slug <slug>', says: 'its name in addresses; made from the name unless given' },
  ),
  status: preset('active', projectStatus, {
    option: '--status <status>',
    says: 'inactive: its keys answer 401, and nothing of it is sent',
  }),
  notes: optional(null, text({ max: MAX_NOTES_CHARS }), { option: '--notes <text>', says: 'for people' }),
  description: optional(null, text({ max: MAX_NOTES_CHARS }), {
    option: '--description <text>',
    says: 'what it is',
  }),
  app_identifier: optional(null, text({ max: MAX_APP_ID_CHARS, description: 'Reverse-DNS app id.' }), {
    option: '--app-identifier <text>',
    says: 'such as com.example.app',
  }),
  primary_url: optional(null, webUrl(MAX_URL_CHARS), {
    option: '--primary-url <url>',
    says: 'where its app is',
  }),
  repo_url: optional(null, webUrl(MAX_URL_CHARS), { option: '--repo-url <url>', says: 'where its code is' }),
  repo_is_public: optional(null, t.Boolean()),
  platforms: optional([], words),
  tech_stack: optional([], words),
  sending_domain: optional(
    null,
    text({
      ...domain,
      description:
        'The sending domain of mail that names none, one of `sending_domains`; null: the default domain, else the first of those. ' +
        'Needs `can_administer`.',
    }),
    {
      stored: t.String({ description: 'Null: the default domain, else the first of its own.' }),
      option: '--sending-domain <name>',
      says: 'what its mail goes out from that names no domain; empty: the default domain, else its first',
    },
  ),
  sending_domains: optional(
    null,
    t.Array(text(domain), {
      minItems: 1,
      maxItems: MAX_LIST_ENTRIES,
      description:
        'The sending domains that the project may send from, as others may; null: all. Any other is to it as one not there. ' +
        'Needs `can_administer`.',
    }),
    {
      stored: t.Array(t.String(), { description: 'Null: all.' }),
      option: '--sending-domains <names>',
      says: 'the only sending domains that its mail may go out from, others may too',
      null_word: 'all',
    },
  ),
  database_project_id: shown(nullable(t.Integer())),
  link_domain: shown(nullable(link_domain)),
  link_domain_status: shown(
    nullable({
      ...oneOf(['pending', 'active', 'failing']),
      description: '`failing` after two looks in a row that it did not lead here; looked at each hour.',
    }),
  ),
  link_domain_problem: shown(
    nullable(t.String({ description: 'Of the last look, why it does not lead here.' })),
  ),
  created_at: moment(),
};
export const CHANGED_FIELDS = {
  ...FIELDS,
  slug: { ...FIELDS.slug, says: 'its name in addresses; what uses the old one finds it no more' },
  database_project_id: optional(null, t.Union([t.Integer({ minimum: 1 }), text({ min: 1, max: 26 })])),
  link_domain: optional(
    null,
    text({
      ...domain,
      description:
        "A host name of the project's own that leads to this Satchel: once it does, links in its mails and its public pages " +
        'begin with it. Asked for at once. Needs `can_administer`.',
    }),
    {
      option: '--link-domain <name>',
      says: "a host name of its own that leads here, for links in its mails and its public pages; empty: the public URL's",
    },
  ),
};

/** A project as the records of tokens and people name it. */
export const abbreviatedProject = t.Object({
  id: t.Integer(),
  public_id: t.String(),
  name: t.String(),
  slug: t.String(),
});
export type AbbreviatedProject = Static<typeof abbreviatedProject>;

export const createProjectBody = named('NewProject', creationOf(FIELDS));
export type NewProjectInput = Static<typeof createProjectBody>;
export const updateProjectBody = named('ProjectChanges', changesOfFields(CHANGED_FIELDS));
export type ProjectChanges = Static<typeof updateProjectBody>;
export const projectRecord = named('Project', recordOf(FIELDS));
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
  t.Object({
    ...projectRecord.properties,
    api_keys: t.Array(abbreviatedKey),
    mail: {
      ...oneOf(MAIL_FATES),
      description:
        'What becomes now of its transactional mail that names no domain, whatever the day has room for: `captured` is kept here ' +
        'and sent to nobody, `refused` is not taken.',
    },
  }),
);
export type ProjectWithKeys = Static<typeof projectWithKeys>;
export const projectWithKeyCount = named(
  'ProjectWithKeyCount',
  t.Object({ ...projectRecord.properties, api_keys_count: t.Integer() }),
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
