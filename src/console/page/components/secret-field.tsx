/** A secret that is entered: several lines where it has them, shown as dots unless `is_shown`, and remembered by no browser. */
import { Field, type FieldProps } from './field.tsx';

export function SecretField(
  props: FieldProps & {
    placeholder?: string;
    rows?: number;
    is_focused?: boolean;
    is_shown?: boolean;
    value?: string;
  },
) {
  const { placeholder, rows = 1, is_focused, is_shown, value } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <textarea
          {...ties}
          // No password field: those drop line breaks, and browsers offer to keep what is typed into them.
          class={`input mono${is_shown ? '' : ' typed-secret'}`}
          rows={rows}
          defaultValue={value ?? ''}
          placeholder={placeholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          // biome-ignore lint/a11y/noAutofocus: of a dialog's first field, where nothing else can be meant.
          autoFocus={is_focused}
        />
      )}
    </Field>
  );
}
