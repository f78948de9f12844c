/** The fields of a list, for making one and for changing it. */
import type { ContactList } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { area, check, choiceOrNone, Fields, lines, optional, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Advanced } from '../../components/page.tsx';
import { useAll } from '../../use-load.ts';
import { CONSENT_BASES } from '../contacts/contact-evidence.tsx';
import { ConfirmationField } from './confirmation-field.tsx';

/** The languages of public pages, each in its own words. */
export type Language = NonNullable<ContactList['language']>;

export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
};

const FIRST = {
  name: text('Name'),
  description: area('Description', { rows: 2, hint: 'For those who look after the list.' }),
  double_opt_in: check('Double opt-in', {
    hint: 'Whoever signs up by the form is mailed only after a click in a mail that asks.',
  }),
  sign_up_page: check('Sign-up page', { hint: 'A page where anybody may sign up. It needs double opt-in.' }),
  archive: check('Archive', {
    hint: 'A page where anybody may read what is sent to all of it from now on, with a feed.',
  }),
  is_public: check('Public', {
    hint: 'Readers see its name on the page of their choices, where they join and leave it.',
  }),
};

const YOURS = "A page of yours. Empty: Satchel's own words.";
const furtherFields = (mailboxes: readonly string[] = []) => ({
  default_consent_basis: choiceOrNone(
    'Basis of consent',
    'None: each contact must come with its own',
    CONSENT_BASES,
    {
      hint: 'Of contacts that come without one of their own. Choose one only where it is true of all of them.',
    },
  ),
  language: choiceOrNone('Language', 'Not said: English', LANGUAGES, {
    hint: 'What its mail is written in: screen readers and translators go by it.',
  }),
  signed_up_url: optional('After signing up, people go to', {
    placeholder: 'https://shop.example.com/check-your-inbox',
    hint: YOURS,
  }),
  confirmed_url: optional('After confirming, people go to', {
    placeholder: 'https://shop.example.com/welcome',
    hint: YOURS,
  }),
  from: optional('It goes out from', {
    placeholder: 'hello@shop.example.com',
    list: mailboxes,
    hint: 'The mailbox of the confirmation mail. Empty: one of those of the marketing settings, else as other mail.',
  }),
  token_hosts: {
    ...lines('Hosts that get the contact token', {
      placeholder: 'shop.example.com',
      hint: 'One on each line. Links to these hosts carry the contact_token of their reader, so that your app can report events.',
      is_mono: true,
    }),
    read: (entered: Entered, name: string) => entered.words(name),
  },
});

export function ListFields({ project, list }: { project: string; list?: ContactList }) {
  const mailboxes = useAll('GET /mailboxes', may('can_administer') ? { query: { project } } : null).data;
  const able = mailboxes?.flatMap((each) => (each.for.includes('transactional') ? each.address : []));
  return (
    <>
      <Fields fields={FIRST} of={list} is_focused={!list} />
      <ConfirmationField project={project} value={list?.confirmation_template ?? null} />
      <Advanced title="Consent, language and where people go" is_set={isRefined(list)}>
        <Fields fields={furtherFields(able)} of={list} />
      </Advanced>
    </>
  );
}

/** Says whether a list has what few need. */
function isRefined(list: ContactList | undefined): boolean {
  if (!list) return false;
  const { default_consent_basis, language, signed_up_url, confirmed_url, from, token_hosts } = list;
  return (
    token_hosts.length > 0 ||
    [default_consent_basis, language, signed_up_url, confirmed_url, from].some(Boolean)
  );
}

const ALL = { ...FIRST, ...furtherFields(), confirmation_template: optional('Confirmation mail') };

/** Reads what was entered; null where a field is empty. */
export const enteredList = (entered: Entered) => entered.read(ALL);

/** The same for a new list, where what is empty is left out. */
export const enteredNewList = (entered: Entered) => entered.given(ALL);
