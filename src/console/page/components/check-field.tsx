/** Something that is so or not. */
import { useId } from 'preact/hooks';
import type { FieldProps } from './field.tsx';
import { useFieldCommand, useFieldErrors } from './form.tsx';
import { Mending } from './mending.tsx';

export function CheckField(
  props: FieldProps & { value?: string; is_checked?: boolean; onChange?: (is_checked: boolean) => void },
) {
  const { name, label, hint, value = 'on', is_checked, onChange } = props;
  const id = useId();
  const wrong = useFieldErrors(name, { label: value === 'on' ? label : '' });
  const command = useFieldCommand(name);
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        name={name}
        value={value}
        defaultChecked={is_checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        aria-invalid={wrong.length > 0 ? 'true' : undefined}
        onChange={onChange && ((event) => onChange(event.currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      {command && (
        <div class="mending">
          <Mending command={command} />
        </div>
      )}
    </div>
  );
}
