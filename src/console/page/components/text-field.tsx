/** One line of text, a number, an address, a password. */

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { tidyAddress } from './address.ts';
import { Field, type FieldProps } from './field.tsx';
import { Icon } from './icon.tsx';

export function TextField(
  props: FieldProps & {
    type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'datetime-local' | 'time';
    /** Suggested as one types; anything else may be typed, too. */
    list?: readonly string[];
    value?: string | number | null;
    placeholder?: string;
    autocomplete?:
      | 'username'
      | 'username webauthn'
      | 'current-password'
      | 'new-password'
      | 'one-time-code'
      | 'name'
      | 'email'
      | 'off';
    is_focused?: boolean;
    is_mono?: boolean;
    onInput?: (value: string) => void;
  },
) {
  const {
    type = 'text',
    value,
    placeholder,
    autocomplete = 'off',
    is_focused,
    is_mono,
    onInput,
    list,
  } = props;
  const field = useFirstFocus<HTMLInputElement>(is_focused);
  const [is_looked_at, setLookedAt] = useState(false);
  const is_secret = type === 'password';
  return (
    <Field {...props}>
      {(ties) => (
        <div class={is_secret ? 'with-eye' : undefined}>
          <input
            {...ties}
            ref={field}
            list={list && `${ties.id}-list`}
            class={`input${is_mono ? ' mono' : ''}`}
            // Preact has attributes of their own for each type; those here are of all of them.
            type={(is_looked_at ? 'text' : type) as 'text'}
            defaultValue={value === null || value === undefined ? '' : String(value)}
            placeholder={placeholder}
            autocomplete={autocomplete}
            autocapitalize="off"
            spellcheck={false}
            // biome-ignore lint/a11y/noAutofocus: of a dialog's or a gate's first field, where nothing else can be meant.
            autoFocus={is_focused}
            onInput={onInput && ((event) => onInput(event.currentTarget.value))}
            onChange={
              type === 'email'
                ? ({ currentTarget }) => {
                    tidyAddress(currentTarget);
                    onInput?.(currentTarget.value);
                  }
                : undefined
            }
          />
          {is_secret && <Eye is_open={is_looked_at} onChange={setLookedAt} />}
          {list && (
            <datalist id={`${ties.id}-list`}>
              {list.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </div>
      )}
    </Field>
  );
}

/** Shows what is typed into the secret field beside it, or hides it again. */
export function Eye({ is_open, onChange }: { is_open: boolean; onChange(is_open: boolean): void }) {
  return (
    <button
      type="button"
      class="button quiet square"
      aria-pressed={is_open}
      aria-label="Show what is typed"
      onClick={(event) => {
        // Looking changes nothing of the form.
        event.stopPropagation();
        onChange(!is_open);
      }}
    >
      <Icon name={is_open ? 'eye_off' : 'eye'} />
    </button>
  );
}

/** For the `ref` of the field. */
export function useFirstFocus<E extends HTMLElement>(is_focused: boolean | undefined): RefObject<E | null> {
  const field = useRef<E>(null);
  useEffect(() => {
    if (is_focused) field.current?.focus({ preventScroll: true });
  }, []);
  return field;
}
