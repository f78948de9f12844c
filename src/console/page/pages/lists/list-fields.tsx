/** The fields of a list, for making one and for changing it. */
import type { ContactList, NewContactList } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { Advanced } from '../../components/advanced.tsx';
import { CheckField } from '../../components/check-field.tsx';
import type { Entered } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAll } from '../../use-all.ts';
import { basisChoices, readBasis } from '../contacts/consent-bases.ts';
import { ConfirmationField } from './confirmation-field.tsx';
import { LANGUAGES, type Language } from './languages.ts';

export function ListFields({ project, list }: { project: string; list?: ContactList }) {
  const mailboxes = useAll('GET /mailboxes', may('can_administer') ? { query: { project } } : null);
  return (
    <>
      <TextField name="name" label="Name" value={list?.name} is_focused={!list} />
      <TextAreaField
        name="description"
        label="Description"
        value={list?.description}
        rows={2}
        hint="For those who look after the list."
      />
      <CheckField
        name="double_opt_in"
        label="Double opt-in"
        is_checked={list?.double_opt_in}
        hint="Whoever signs up by the form is mailed only after a click in a mail that asks."
      />
      <CheckField
        name="sign_up_page"
        label="Sign-up page"
        is_checked={list?.sign_up_page}
        hint="A page where anybody may sign up. It needs double opt-in."
      />
      <CheckField
        name="is_public"
        label="Public"
        is_checked={list?.is_public}
        hint="Readers see its name on the page of their choices, where they join and leave it."
      />
      <ConfirmationField project={project} value={list?.confirmation_template ?? null} />
      <Advanced title="Consent, language and where people go" is_set={isRefined(list)}>
        <SelectField
          name="default_consent_basis"
          label="Basis of consent"
          value={list?.default_consent_basis ?? ''}
          choices={basisChoices('None: each contact must come with its own')}
          hint="Of contacts that come without one of their own. Choose one only where it is true of all of them."
        />
        <SelectField
          name="language"
          label="Language"
          value={list?.language ?? ''}
          choices={[['', 'Not said: English'], ...Object.entries(LANGUAGES)]}
          hint="What its mail is written in: screen readers and translators go by it."
        />
        <TextField
          name="signed_up_url"
          label="After signing up, people go to"
          value={list?.signed_up_url}
          placeholder="https://shop.example.com/check-your-inbox"
          hint="A page of yours. Empty: Satchel's own words."
        />
        <TextField
          name="confirmed_url"
          label="After confirming, people go to"
          value={list?.confirmed_url}
          placeholder="https://shop.example.com/welcome"
          hint="A page of yours. Empty: Satchel's own words."
        />
        <TextField
          name="from"
          label="It goes out from"
          value={list?.from}
          placeholder="hello@shop.example.com"
          list={
            mailboxes.data?.flatMap((each) => (each.for.includes('transactional') ? each.address : [])) ?? []
          }
          hint="The mailbox of the confirmation mail. Empty: one of those of the marketing settings, else as other mail."
        />
        <TextAreaField
          name="token_hosts"
          label="Hosts that get the contact token"
          value={list?.token_hosts.join('\n')}
          rows={2}
          placeholder="shop.example.com"
          hint="One on each line. Links to these hosts carry the contact_token of their reader, so that your app can report events."
          is_mono
        />
      </Advanced>
    </>
  );
}

/** Whether a list has what few need. */
function isRefined(list: ContactList | undefined): boolean {
  if (!list) return false;
  const { default_consent_basis, language, signed_up_url, confirmed_url, from, token_hosts } = list;
  return (
    token_hosts.length > 0 ||
    [default_consent_basis, language, signed_up_url, confirmed_url, from].some(Boolean)
  );
}

function readLanguage(chosen: string): Language | null {
  return Object.hasOwn(LANGUAGES, chosen) ? (chosen as Language) : null;
}

/** What was entered; null where a field is empty. */
export function enteredList(entered: Entered) {
  return {
    name: entered.text('name'),
    description: entered.textOrNull('description'),
    default_consent_basis: readBasis(entered.text('default_consent_basis')),
    language: readLanguage(entered.text('language')),
    double_opt_in: entered.flag('double_opt_in'),
    sign_up_page: entered.flag('sign_up_page'),
    is_public: entered.flag('is_public'),
    signed_up_url: entered.textOrNull('signed_up_url'),
    confirmed_url: entered.textOrNull('confirmed_url'),
    confirmation_template: entered.textOrNull('confirmation_template'),
    from: entered.textOrNull('from'),
    token_hosts: entered.words('token_hosts'),
  };
}

/** The same for a new list, where what is empty is left out. */
export function enteredNewList(entered: Entered): NewContactList {
  const { name, double_opt_in, sign_up_page, is_public, token_hosts, ...optional } = enteredList(entered);
  const given = Object.entries(optional).filter(([, value]) => value !== null);
  return { name, double_opt_in, sign_up_page, is_public, token_hosts, ...Object.fromEntries(given) };
}
