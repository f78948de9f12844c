/** A field of a form with its label, a hint, and what the API said of it. What is typed into it is `children`'s. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Mending } from './error-box.tsx';
import { useFieldErrors, useFieldRemedy } from './form.tsx';

export interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
}

/** Attributes that tie an input to its label, hint and error. */
interface Ties {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': 'true' | undefined;
}

export function Field(props: FieldProps & { children: (ties: Ties) => ComponentChildren }) {
  const { name, label, hint, children } = props;
  const id = useId();
  const wrong = useFieldErrors(name);
  const remedy = useFieldRemedy(name);
  const described = [hint ? `${id}-hint` : '', wrong.length > 0 ? `${id}-wrong` : '']
    .filter(Boolean)
    .join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        'aria-describedby': described || undefined,
        'aria-invalid': wrong.length > 0 ? 'true' : undefined,
      })}
      {wrong.length > 0 && (
        <p class="wrong" id={`${id}-wrong`}>
          {wrong.join(' ')}
        </p>
      )}
      {remedy && (
        <div>
          <Mending remedy={remedy} />
        </div>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
