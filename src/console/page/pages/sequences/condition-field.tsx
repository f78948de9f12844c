/** The condition of a step, with others inside it where all have to hold. `name` is the API's, as `steps.2.condition`. */

import { SelectField } from '../../components/fields.tsx';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { TextField } from '../../components/text-field.tsx';
import { CONDITION_TYPES, type ConditionDraft, type ConditionType, newCondition } from './step-draft.ts';

const CHOICES = Object.entries(CONDITION_TYPES);

export function ConditionField(props: {
  name: string;
  label: string;
  of: ConditionDraft;
  onChange(condition: ConditionDraft): void;
}) {
  const { name, label, of, onChange } = props;
  const choose = (chosen: string): void => {
    const type = CHOICES.find(([each]) => each === chosen)?.[0] as ConditionType | undefined;
    if (type)
      onChange({ ...of, type, of: type === 'all' && of.of.length === 0 ? [newCondition('clicked')] : of.of });
  };
  const has_event = of.type === 'event' || of.type === 'no_event';
  return (
    <>
      <SelectField name={`${name}.type`} label={label} choices={CHOICES} value={of.type} onChange={choose} />
      {has_event && (
        <TextField
          name={`${name}.event`}
          label="Event"
          value={of.event}
          placeholder="purchased"
          hint="Since the enrollment. A click is the event clicked."
          is_mono
          onInput={(event) => onChange({ ...of, event })}
        />
      )}
      {of.type === 'all' && <Parts name={name} of={of} onChange={onChange} />}
    </>
  );
}

function Parts({ name, of, onChange }: Omit<Parameters<typeof ConditionField>[0], 'label'>) {
  const replace = (part: ConditionDraft): void =>
    onChange({ ...of, of: of.of.map((each) => (each.uid === part.uid ? part : each)) });
  const remove = (uid: number): void => onChange({ ...of, of: of.of.filter((each) => each.uid !== uid) });
  return (
    <div class="condition-parts">
      <Said name={`${name}.of`} />
      {of.of.map((part, index) => (
        <div key={part.uid} class="condition-part">
          <ConditionField
            name={`${name}.of.${index}`}
            label={index === 0 ? 'This holds' : 'And this'}
            of={part}
            onChange={replace}
          />
          <button
            type="button"
            class="button quiet square"
            aria-label={`Remove condition ${index + 1}`}
            onClick={() => remove(part.uid)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          class="button small"
          onClick={() => onChange({ ...of, of: [...of.of, newCondition('clicked')] })}
        >
          <Icon name="plus" size={14} />
          Add a condition
        </button>
      </div>
    </div>
  );
}

/** The API's message about a part of a form as a whole. A message about a field stands at the field. */
export function Said({ name }: { name: string }) {
  const told = useFieldErrors(name, { is_exact: true });
  return told.length === 0 ? null : <p class="wrong">{told.join(' ')}</p>;
}
