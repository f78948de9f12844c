/** Defaults for rows that do not say otherwise. The names of the fields are the API's own, so that its errors find them. */
import type { ContactList, Import, NewImport } from '../../api.generated.ts';
import { ApiError } from '../../api.ts';
import { choiceOrNone, Fields, lines, optional } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { CONSENT_BASES, readBasis } from '../contacts/contact-evidence.tsx';

const fieldsOf = (list: ContactList, method: NewImport['method']) => ({
  consent_basis: choiceOrNone(
    'Basis of consent',
    list.default_consent_basis === null
      ? 'None: rows without one are rejected'
      : `The list's: ${CONSENT_BASES[list.default_consent_basis]}`,
    CONSENT_BASES,
    {
      hint: 'Why these people may be mailed. It is kept with each as evidence: choose what is true of all of them.',
    },
  ),
  tags: lines('Tags for everybody'),
  source_platform: optional('Source platform', {
    placeholder: method,
    hint: 'A lowercase slug that says where they come from, such as shop or newsletter-2030.',
    is_mono: true,
  }),
});

export function ImportDefaults(props: {
  list: ContactList;
  method: NewImport['method'];
  /** Those of an import before. */
  of?: Import['defaults'];
}) {
  const { list, method, of } = props;
  const source_platform = of?.source_platform === method ? null : of?.source_platform;
  return (
    <Fields
      fields={fieldsOf(list, method)}
      of={{ ...of, consent_basis: readBasis(of?.consent_basis ?? ''), source_platform }}
      prefix="defaults."
    />
  );
}

/** Refused here where no row can have a basis: the API would take the import, and reject each of its rows. */
export function enteredDefaults(
  entered: Entered,
  { list, is_in_rows }: { list: ContactList; is_in_rows: boolean },
): NonNullable<NewImport['defaults']> {
  const defaults = entered.given(fieldsOf(list, 'csv'), 'defaults.');
  if (defaults.consent_basis === undefined && list.default_consent_basis === null && !is_in_rows)
    throw refused('defaults.consent_basis', 'Choose one: every row would be rejected without.');
  return defaults;
}

/** Refuses what was entered as the API does. */
export function refused(field: string, message: string): ApiError {
  return new ApiError(422, { message, errors: { [field]: [message] } });
}
