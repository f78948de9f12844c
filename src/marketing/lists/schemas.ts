/** Shapes of requests and answers about contact lists. */
import { MAX_DESCRIPTION_CHARS, MAX_DNS_NAME_CHARS, MAX_NAME_CHARS, MAX_TOKEN_HOSTS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  emailAddress,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { CONSENT_BASES, LANGUAGES } from './service.ts';

const name = text({ min: 1, max: MAX_NAME_CHARS });
const optional = {
  description: text({ max: MAX_DESCRIPTION_CHARS }),
  default_consent_basis: {
    ...oneOf(CONSENT_BASES),
    description: 'For contacts that come without a basis of their own.',
  },
  language: {
    ...oneOf(LANGUAGES),
    description: 'What its mail is written in, for screen readers and translators. Null is en.',
  },
  token_hosts: t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
    maxItems: MAX_TOKEN_HOSTS,
    description: 'Links to these hosts carry the `contact_token` of their reader.',
  }),
  confirmation_template: text({
    min: 1,
    max: MAX_NAME_CHARS,
    description:
      'Slug of a transactional template with `{{confirm_url}}`; it may use `email`, `first_name`, `last_name`, ' +
      '`list_name` and `brand_name`, too. A double opt-in list takes sign-ups only with one.',
  }),
  from: {
    ...emailAddress(),
    description:
      'An active mailbox for transactional mail that confirmations go out from, and no other; else those of the marketing ' +
      'settings (`accounts`) that are for such mail, else as other mail of the project.',
  },
};
const sign_up_page = t.Boolean({
  description:
    'Default false. A page where anybody may sign up, at `sign_up_url`. Needs `double_opt_in`, which stays as long as the page does.',
});
export const creation = named(
  'NewContactList',
  t.Object({
    name,
    ...optionals(optional),
    double_opt_in: t.Optional(t.Boolean({ description: 'Default false.' })),
    sign_up_page: t.Optional(sign_up_page),
  }),
);
export const changes = named(
  'ContactListChanges',
  changesOf({
    name: name,
    ...nullables(optional),
    double_opt_in: t.Boolean(),
    sign_up_page,
    archived: t.Boolean({ description: 'An archived list takes nobody any more.' }),
  }),
);

export const listRecord = named(
  'ContactList',
  t.Object({
    id: ulid(),
    name: t.String(),
    description: nullable(t.String()),
    default_consent_basis: nullable(oneOf(CONSENT_BASES)),
    double_opt_in: t.Boolean(),
    language: nullable(oneOf(LANGUAGES)),
    token_hosts: t.Array(t.String()),
    confirmation_template: nullable(t.String()),
    from: nullable(t.String({ description: 'The mailbox that confirmations go out from.' })),
    sign_up_page: t.Boolean(),
    sign_up_url: nullable(
      t.String({ description: 'The page, and where a form of your own posts; null without it.' }),
    ),
    archived: t.Boolean(),
    contacts_count: t.Integer(),
    active_count: t.Integer(),
    status_counts: t.Record(t.String(), t.Integer(), {
      description: 'Contacts by status; one that nobody has is left out.',
    }),
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);
