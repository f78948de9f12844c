/** Several lines of text. */
import { Field, type FieldProps } from './field.tsx';

export function TextAreaField(
  props: FieldProps & { value?: string | null; rows?: number; placeholder?: string; is_mono?: boolean },
) {
  const { value, rows = 4, placeholder, is_mono } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <textarea
          {...ties}
          class={`input${is_mono ? ' mono' : ''}`}
          rows={rows}
          placeholder={placeholder}
          defaultValue={value ?? ''}
        />
      )}
    </Field>
  );
}
