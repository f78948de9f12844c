/** A choice of one. */
import { Field, type FieldProps } from './field.tsx';

export function SelectField(
  props: FieldProps & {
    choices: readonly (readonly [value: string, label: string])[];
    value?: string;
    onChange?: (value: string) => void;
  },
) {
  const { choices, value, onChange } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <select
          {...ties}
          class="input"
          onChange={onChange && ((event) => onChange(event.currentTarget.value))}
        >
          {choices.map(([each, label]) => (
            <option key={each} value={each} selected={each === value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
