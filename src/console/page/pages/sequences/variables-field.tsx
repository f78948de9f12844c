/** Values that a step gives to placeholders of its template. */

import type { TemplateSummary } from '../../api.generated.ts';
import { RowsField } from './rows-field.tsx';
import { newUid, type StepDraft } from './step-draft.ts';

type Variables = StepDraft['variables'];

export function VariablesField(props: {
  name: string;
  of: Variables;
  template: TemplateSummary | undefined;
  onChange(variables: Variables): void;
}) {
  const { name, of, template, onChange } = props;
  const declared = template?.variables ?? [];
  return (
    <RowsField
      name={name}
      label="Variables"
      noun={['a', 'variable']}
      of={of}
      makeRow={() => ({ uid: newUid(), name: '', value: '' })}
      onChange={onChange}
      cells={(variable, index, set) => (
        <>
          <input
            class="input mono"
            aria-label={`Name of variable ${index + 1}`}
            placeholder="name"
            value={variable.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value of variable ${index + 1}`}
            placeholder="value"
            value={variable.value}
            onInput={(event) => set({ value: event.currentTarget.value })}
          />
        </>
      )}
      hint={
        <>
          {declared.length > 0
            ? `The template takes ${declared.map((each) => each.name + (each.required ? ' (needed)' : '')).join(', ')}. `
            : ''}
          A contact's own fields, such as first_name, need no entry here.
        </>
      }
    />
  );
}
