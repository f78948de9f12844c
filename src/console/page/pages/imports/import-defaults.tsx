/** What rows get that do not say otherwise. The names of the fields are the API's own, so that its errors find them. */
import type { ContactList, Import, NewImport } from '../../api.generated.ts';
import { ApiError } from '../../api.ts';
import type { Entered } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { basisChoices, CONSENT_BASES, readBasis } from '../contacts/consent-bases.ts';

export function ImportDefaults(props: {
  list: ContactList;
  method: NewImport['method'];
  /** Those of an import before. */
  of?: Import['defaults'];
}) {
  const { list, method, of } = props;
  const basis = list.default_consent_basis;
  return (
    <>
      <SelectField
        name="defaults.consent_basis"
        label="Basis of consent"
        choices={basisChoices(
          basis === null ? 'None: rows without one are rejected' : `The list's: ${CONSENT_BASES[basis]}`,
        )}
        {...(of?.consent_basis && { value: of.consent_basis })}
        hint="Why these people may be mailed. It is kept with each as evidence: choose what is true of all of them."
      />
      <TextAreaField
        name="defaults.tags"
        label="Tags for everybody"
        rows={2}
        value={of?.tags.join('\n') ?? null}
        hint="One on each line."
      />
      <TextField
        name="defaults.source_platform"
        label="Source platform"
        placeholder={method}
        value={of && of.source_platform !== method ? of.source_platform : null}
        hint="A lowercase slug that says where they come from, such as shop or newsletter-2030."
        is_mono
      />
    </>
  );
}

/** Refused here where no row can have a basis: the API would take the import, and reject each of its rows. */
export function enteredDefaults(
  entered: Entered,
  { list, is_in_rows }: { list: ContactList; is_in_rows: boolean },
): NonNullable<NewImport['defaults']> {
  const consent_basis = readBasis(entered.text('defaults.consent_basis'));
  if (consent_basis === null && list.default_consent_basis === null && !is_in_rows)
    throw refused('defaults.consent_basis', 'Choose one: every row would be rejected without.');
  const source_platform = entered.text('defaults.source_platform');
  return {
    tags: entered.lines('defaults.tags'),
    ...(consent_basis !== null && { consent_basis }),
    ...(source_platform !== '' && { source_platform }),
  };
}

/** What is wrong with what was entered, told as the API tells it. */
export function refused(field: string, message: string): ApiError {
  return new ApiError(422, { message, errors: { [field]: [message] } });
}
