/** Values that a step gives to placeholders of its template. */

import type { TemplateSummary } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { newUid, type StepDraft } from './step-draft.ts';

type Variables = StepDraft['variables'];

export function VariablesField(props: {
  name: string;
  of: Variables;
  template: TemplateSummary | undefined;
  onChange(variables: Variables): void;
}) {
  const { name, of, template, onChange } = props;
  const wrong = useFieldErrors(name);
  const set = (uid: number, change: Partial<Variables[number]>): void =>
    onChange(of.map((each) => (each.uid === uid ? { ...each, ...change } : each)));
  const declared = template?.variables ?? [];
  return (
    <fieldset class="field" name={name}>
      <legend class="field-label">Variables</legend>
      {of.map(({ uid, name: variable, value }, index) => (
        <div key={uid} class="variable">
          <input
            class="input mono"
            aria-label={`Name of variable ${index + 1}`}
            placeholder="name"
            value={variable}
            onInput={(event) => set(uid, { name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value of variable ${index + 1}`}
            placeholder="value"
            value={value}
            onInput={(event) => set(uid, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="button quiet square"
            aria-label={`Remove variable ${index + 1}`}
            onClick={() => onChange(of.filter((each) => each.uid !== uid))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          class="button small"
          onClick={() => onChange([...of, { uid: newUid(), name: '', value: '' }])}
        >
          <Icon name="plus" size={14} />
          Add a variable
        </button>
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      <p class="hint">
        {declared.length > 0
          ? `The template takes ${declared.map((each) => each.name + (each.required ? ' (needed)' : '')).join(', ')}. `
          : ''}
        A contact's own fields, such as first_name, need no entry here.
      </p>
    </fieldset>
  );
}
