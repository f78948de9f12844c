/** Several lines of text. */
import { Field, type FieldProps } from './field.tsx';

export function TextAreaField(
  props: FieldProps & {
    value?: string | null;
    rows?: number;
    placeholder?: string;
    is_mono?: boolean;
    onInput?: (value: string) => void;
  },
) {
  const { value, rows = 4, placeholder, is_mono, onInput } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <textarea
          {...ties}
          class={`input${is_mono ? ' mono' : ''}`}
          rows={rows}
          placeholder={placeholder}
          defaultValue={value ?? ''}
          onInput={onInput && ((event) => onInput(event.currentTarget.value))}
        />
      )}
    </Field>
  );
}
