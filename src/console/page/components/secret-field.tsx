/** A secret that is entered: several lines where it has them, dots until the eye is pressed, and remembered by no browser. */
import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';
import { Eye, useFirstFocus } from './text-field.tsx';

export function SecretField(
  props: FieldProps & {
    placeholder?: string;
    rows?: number;
    is_focused?: boolean;
    /** True where it is no secret, and shown as it is. */
    is_shown?: boolean;
    value?: string;
    onInput?: (value: string) => void;
  },
) {
  const { placeholder, rows = 1, is_focused, is_shown = false, value, onInput } = props;
  const [is_looked_at, setLookedAt] = useState(false);
  const field = useFirstFocus<HTMLTextAreaElement>(is_focused);
  return (
    <Field {...props}>
      {(ties) => (
        <div class="with-eye">
          <textarea
            {...ties}
            ref={field}
            // No password field: those drop line breaks, and browsers offer to keep what is typed into them.
            class={`input mono${is_shown || is_looked_at ? '' : ' typed-secret'}`}
            rows={rows}
            defaultValue={value ?? ''}
            placeholder={placeholder}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            // biome-ignore lint/a11y/noAutofocus: of a dialog's first field, where nothing else can be meant.
            autoFocus={is_focused}
            onInput={onInput && ((event) => onInput(event.currentTarget.value))}
          />
          {!is_shown && <Eye is_open={is_looked_at} onChange={setLookedAt} />}
        </div>
      )}
    </Field>
  );
}
