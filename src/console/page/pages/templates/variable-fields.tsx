/** The fields that a template declares: what each is, and whether a send may leave it out. */
import { CheckField } from '../../components/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { TextField } from '../../components/text-field.tsx';
import type { Words } from '../writing/words.ts';
import { mergeFieldsOf } from './merge-fields.ts';

type Variable = Words['variables'][number];

export function VariableFields(props: { words: Words; onChange(changes: Partial<Words>): void }) {
  const { words, onChange } = props;
  const { variables } = words;
  const declared = new Set(variables.map(({ name }) => name));
  const undeclared = mergeFieldsOf(words).filter(({ name }) => !declared.has(name));
  const add = (name: string): void =>
    onChange({ variables: [...variables, { name, description: null, required: false }] });
  const change = (index: number, changes: Partial<Variable>): void =>
    onChange({ variables: variables.map((each, at) => (at === index ? { ...each, ...changes } : each)) });
  return (
    <>
      {variables.map((variable, index) => (
        <fieldset
          // A field has no identity but its place.
          key={`${index}/${variables.length}`}
          class="variable"
          aria-label={`Field ${variable.name || index + 1}`}
        >
          <TextField
            name={`variables.${index}.name`}
            label="Field"
            value={variable.name}
            onInput={(name) => change(index, { name: name.trim() })}
            is_mono
          />
          <TextField
            name={`variables.${index}.description`}
            label="What it is"
            value={variable.description}
            onInput={(description) => change(index, { description: description.trim() || null })}
          />
          <div class="row">
            <CheckField
              name={`variables.${index}.required`}
              label="Required"
              is_checked={variable.required}
              onChange={(required) => change(index, { required })}
            />
            <span class="spacer" />
            <button
              type="button"
              class="button quiet small"
              aria-label={`Remove the field ${variable.name}`}
              onClick={() => onChange({ variables: variables.filter((_, at) => at !== index) })}
            >
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      <div class="row">
        <button type="button" class="button small" onClick={() => add('')}>
          <Icon name="plus" />
          Declare a field
        </button>
        {undeclared.map(({ name }) => (
          <button key={name} type="button" class="button small" onClick={() => add(name)}>
            <Icon name="plus" />
            Declare {name}
          </button>
        ))}
      </div>
    </>
  );
}
