/** The builder of a filter: a field for each of its members, all of which must hold. */
import { useState } from 'preact/hooks';
import { dayOf, momentOf } from '../../components/date-filter.tsx';
import { Field, type FieldProps } from '../../components/field.tsx';
import { RowsField } from '../sequences/rows-field.tsx';
import { newUid } from '../sequences/step-draft.ts';
import { CUSTOM, type FilterParameters } from './filter.ts';
import { STATUSES } from './statuses.ts';

export interface FilterFieldsProps {
  of: FilterParameters;
  /** What the API calls the filter, before the names of its members: `filter.`. */
  prefix?: string;
  onChange(parameters: FilterParameters): void;
}

/** `has_first`: with the members that a list has above it anyway; its status only where one is set: the rest of them gets no mail. */
export function FilterFields(props: FilterFieldsProps & { has_first?: boolean }) {
  const { of, prefix = '', onChange, has_first = false } = props;
  const [has_status] = useState(has_first && of.status !== undefined);
  const set = (name: string, value: string): void => onChange(changed(of, { [name]: value }));
  const text = (name: string, label: string, hint?: string) => (
    <Typed
      name={prefix + name}
      label={label}
      hint={hint}
      value={of[name] ?? ''}
      is_focused={!has_first && name === 'tags_any'}
      onType={(value) => set(name, value)}
    />
  );
  return (
    <div class="filter-fields">
      {has_status && (
        <Field name={`${prefix}status`} label="Status">
          {(ties) => (
            <select
              {...ties}
              class="input"
              value={of.status ?? ''}
              onChange={(event) => set('status', event.currentTarget.value)}
            >
              <option value="">Any</option>
              {STATUSES.map((status) => (
                <option key={status}>{status}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      {has_first && text('q', 'Address or name begins with')}
      {text('tags_any', 'With at least one of these tags', 'Separated by commas.')}
      {text('tags_all', 'With all of these tags', 'Separated by commas.')}
      {text('tags_none', 'With none of these tags', 'Separated by commas.')}
      <Typed
        name={`${prefix}clicked_within_days`}
        label="Clicked in a mail within"
        hint="Days, counted back from now."
        type="number"
        value={of.clicked_within_days ?? ''}
        onType={(days) => set('clicked_within_days', days)}
      />
      <Typed
        name={`${prefix}joined_after`}
        label="On the list since this day or later"
        type="date"
        value={dayOf(of.joined_after ?? '')}
        onType={(day) => set('joined_after', momentOf(day))}
      />
      <Typed
        name={`${prefix}joined_before`}
        label="On the list since before this day"
        type="date"
        value={dayOf(of.joined_before ?? '')}
        onType={(day) => set('joined_before', momentOf(day))}
      />
      <Custom {...props} />
    </div>
  );
}

function Typed(
  props: FieldProps & {
    type?: 'text' | 'number' | 'date';
    value: string;
    is_focused?: boolean;
    onType(value: string): void;
  },
) {
  const { type = 'text', value, is_focused, onType } = props;
  return (
    <Field {...props}>
      {(ties) => (
        <input
          {...ties}
          class="input"
          // Preact has attributes of their own for each type; those here are of all of them.
          type={type as 'text'}
          min={type === 'number' ? 1 : undefined}
          autocomplete="off"
          // biome-ignore lint/a11y/noAutofocus: of a dialog's first field, where nothing else can be meant.
          autoFocus={is_focused}
          value={value}
          onInput={(event) => onType(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface CustomRow {
  uid: number;
  name: string;
  value: string;
}

function rowsOf(parameters: FilterParameters): CustomRow[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    name.startsWith(CUSTOM) ? [{ uid: newUid(), name: name.slice(CUSTOM.length), value }] : [],
  );
}

/** Rows of their own, as one without a name yet is of no filter. */
function Custom({ of, prefix = '', onChange }: FilterFieldsProps) {
  const [rows, setRows] = useState(() => rowsOf(of));
  const change = (now: CustomRow[]): void => {
    setRows(now);
    const named = now.filter(({ name }) => name.trim() !== '');
    const rest = Object.entries(of).filter(([name]) => !name.startsWith(CUSTOM));
    onChange(
      Object.fromEntries([
        ...rest,
        ...named.map(({ name, value }) => [CUSTOM + name.trim(), value] as const),
      ]),
    );
  };
  return (
    <RowsField
      name={`${prefix}custom`}
      label="Custom fields with these values"
      noun={['a', 'field']}
      of={rows}
      makeRow={() => ({ uid: newUid(), name: '', value: '' })}
      onChange={change}
      cells={(row, index, set) => (
        <>
          <input
            class="input mono"
            aria-label={`Name of field ${index + 1}`}
            placeholder="plan"
            value={row.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value of field ${index + 1}`}
            placeholder="pro"
            value={row.value}
            onInput={(event) => set({ value: event.currentTarget.value })}
          />
        </>
      )}
    />
  );
}

/** What is empty is of no filter. */
function changed(of: FilterParameters, changes: FilterParameters): FilterParameters {
  return Object.fromEntries(Object.entries({ ...of, ...changes }).filter(([, value]) => value !== ''));
}
