/** The fields of contact lists, and the shapes of requests and answers about them. */
import {
  MAX_DESCRIPTION_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_PUBLIC_LISTS,
  MAX_TOKEN_HOSTS,
  MAX_URL_CHARS,
} from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  optional,
  preset,
  type RecordOfFields,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import {
  changesOf,
  emailAddress,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  text,
  ulid,
  webUrl,
} from '../../platform/http/schema.ts';
import { CONSENT_BASES, LANGUAGES } from './tables.ts';

const target = webUrl(MAX_URL_CHARS);
const TARGET = 'An https address; http to localhost, private addresses and names that nobody can register.';

export const FIELDS = {
  id: shown(ulid()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'its name' }),
  description: optional(null, text({ max: MAX_DESCRIPTION_CHARS }), {
    option: '--description <text>',
    says: 'what it is for',
  }),
  default_consent_basis: optional(
    null,
    { ...oneOf(CONSENT_BASES), description: 'For contacts that come without a basis of their own.' },
    { option: '--basis <basis>', says: 'consent of contacts that come without' },
  ),
  language: optional(
    null,
    {
      ...oneOf(LANGUAGES),
      description:
        "What its mail is written in, for screen readers and translators, and what its public pages say. Null: en in mail, and on a page what its reader's browser asks for.",
    },
    { option: '--language <language>', says: 'what its mail and its pages are written in' },
  ),
  double_opt_in: preset(false, t.Boolean({ description: 'Default false.' }), {
    option: '--double-opt-in',
    says: 'sign-ups by form are confirmed by a mail',
    unset: 'sign-ups by form count at once',
  }),
  confirmation_template: optional(
    null,
    text({
      min: 1,
      max: MAX_NAME_CHARS,
      description:
        'Slug of a transactional template with `{{confirm_url}}`; it may use `email`, `first_name`, `last_name`, ' +
        '`list_name` and `brand_name`, too. A double opt-in list takes sign-ups only with one.',
    }),
    {
      option: '--confirmation-template <template>',
      says: 'template of that mail, which holds {{confirm_url}}: its slug, name or id',
    },
  ),
  from: optional(
    null,
    {
      ...emailAddress(),
      description:
        'An active mailbox for transactional mail that confirmations go out from, and no other; else those of the marketing ' +
        'settings (`accounts`) that are for such mail, else as other mail of the project.',
    },
    { option: '--from <address>', says: 'the mailbox that this mail goes out from, and no other' },
  ),
  token_hosts: optional(
    [],
    t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
      maxItems: MAX_TOKEN_HOSTS,
      description: 'Links to these hosts carry the `contact_token` of their reader.',
    }),
    { option: '--token-hosts <hosts>', says: 'hosts whose links carry the contact_token' },
  ),
  sign_up_page: preset(
    false,
    t.Boolean({
      description:
        'Default false. A page where anybody may sign up, at `sign_up_url`. Needs `double_opt_in`, which stays as long as the page does.',
    }),
    {
      option: '--sign-up-page',
      says: 'a page where anybody may sign up; needs double opt-in',
      unset: 'its address works no more',
    },
  ),
  signed_up_url: optional(
    null,
    { ...target, description: `Where the form leads that was sent, in place of a page of ours. ${TARGET}` },
    { option: '--signed-up-url <url>', says: 'where people go once their form was taken' },
  ),
  confirmed_url: optional(
    null,
    { ...target, description: `Where whoever confirms is led, in place of a page of ours. ${TARGET}` },
    { option: '--confirmed-url <url>', says: 'where people go once they confirmed' },
  ),
  sign_up_url: shown(nullable(t.String()), 'the page, and where a form of your own posts; null without it'),
  is_public: preset(
    false,
    t.Boolean({
      description: `Default false. People see its name on the page of their choices, where they join and leave it; at most ${MAX_PUBLIC_LISTS} of a project.`,
    }),
    {
      option: '--public',
      says: 'people see it on the page of their choices, where they join and leave it',
      unset: 'nobody sees it there',
    },
  ),
  archive: preset(
    false,
    t.Boolean({
      description:
        'Default false. Anybody can read at `archive_url` what was sent to all of the list from then on: see `in_archive` of broadcasts.',
    }),
    {
      option: '--archive-page',
      says: 'a page where anybody reads what was sent to all of it',
      unset: 'nobody reads it there any more',
    },
  ),
  archive_url: shown(
    nullable(t.String()),
    'the page, with an Atom feed below it as `/feed.xml`; null without it',
  ),
  archived: shown(t.Boolean()),
  contacts_count: shown(t.Integer()),
  active_count: shown(t.Integer()),
  status_counts: shown(
    t.Record(t.String(), t.Integer()),
    'contacts by status; one that nobody has is left out',
  ),
  created_at: moment(),
  updated_at: moment(),
};
export type ListRecord = RecordOfFields<typeof FIELDS>;

export const creation = named('NewContactList', creationOf(FIELDS));
export const changes = named(
  'ContactListChanges',
  changesOf({
    ...changesOfFields(FIELDS).properties,
    archived: t.Boolean({ description: 'An archived list takes nobody any more.' }),
  }),
);
export type ListChanges = Partial<Static<typeof changes>>;
export const listRecord = named('ContactList', recordOf(FIELDS));
