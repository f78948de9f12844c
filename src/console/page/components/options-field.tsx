/** One of a few, each told in a sentence: what somebody may do, what a key is for. */
import { useId } from 'preact/hooks';
import { useFieldErrors } from './form.tsx';

interface Option<T extends string> {
  value: T;
  label: string;
  says?: string;
}

export function OptionsField<T extends string>(props: {
  name: string;
  label: string;
  options: readonly Option<T>[];
  value: T;
  onChange(value: T): void;
}) {
  const { name, label, options, value, onChange } = props;
  const id = useId();
  const wrong = useFieldErrors(name);
  return (
    <fieldset class="field">
      <legend class="field-label">{label}</legend>
      <div class="options">
        {options.map((option) => (
          <div key={option.value} class="option">
            <input
              type="radio"
              id={`${id}-${option.value}`}
              name={name}
              value={option.value}
              checked={option.value === value}
              aria-describedby={option.says ? `${id}-${option.value}-says` : undefined}
              onChange={() => onChange(option.value)}
            />
            <label for={`${id}-${option.value}`}>{option.label}</label>
            {option.says && (
              <p class="hint" id={`${id}-${option.value}-says`}>
                {option.says}
              </p>
            )}
          </div>
        ))}
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}
