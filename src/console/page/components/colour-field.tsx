/** A colour: as hex, or chosen by eye in the browser's own way. */
import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';

const HEX = /^#[0-9a-f]{6}$/i;

export function ColourField(props: FieldProps & { value: string | null; placeholder: string }) {
  const { placeholder } = props;
  const [colour, setColour] = useState(props.value ?? '');
  const change = (event: { currentTarget: HTMLInputElement }): void => setColour(event.currentTarget.value);
  return (
    <Field {...props}>
      {(ties) => (
        <div class="colour">
          <input
            type="color"
            aria-label="Choose by eye"
            value={HEX.test(colour) ? colour : placeholder}
            onInput={change}
          />
          <input
            {...ties}
            class="input mono"
            value={colour}
            placeholder={placeholder}
            autocomplete="off"
            spellcheck={false}
            onInput={change}
          />
        </div>
      )}
    </Field>
  );
}
