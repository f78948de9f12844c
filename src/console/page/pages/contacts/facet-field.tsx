/** Fields of a filter that offer what there is on the list, with how many have it, and say so where what is typed is not there. */
import { useId } from 'preact/hooks';
import { Field, type FieldProps } from '../../components/field.tsx';
import { wordsOf } from './filter.ts';

interface Facet {
  name: string;
  count: number;
}

/** More are found by typing. */
const SHOWN = 12;

/** Words with commas between. A facet is put in and taken out by its button. */
export function FacetField(props: {
  name: string;
  label: string;
  value: string;
  /** Null while they are not known. */
  facets: readonly Facet[] | null;
  is_focused?: boolean;
  onType(value: string): void;
}) {
  const { facets, value, onType } = props;
  const chosen = wordsOf(value);
  const unknown = facets === null ? [] : chosen.filter((word) => !facets.some(({ name }) => name === word));
  const toggle = (name: string): void =>
    onType((chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]).join(', '));
  return (
    <div class="facet-field">
      <Typed
        {...props}
        hint={
          unknown.length > 0
            ? `Nobody on the list is tagged ${unknown.map((each) => `“${each}”`).join(', ')}.`
            : 'Separated by commas.'
        }
      />
      {facets !== null && facets.length > 0 && (
        <div class="facets">
          {facets.slice(0, SHOWN).map(({ name, count }) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-pressed={chosen.includes(name)}
              onClick={() => toggle(name)}
            >
              {name} <span class="muted">{count}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** An event, and within how many days; as JSON, which is empty where there is none. */
export function EventField(props: {
  name: string;
  label: string;
  value: string;
  known: readonly Facet[];
  onChange(value: string): void;
}) {
  const { name, label, value, known, onChange } = props;
  const now: { name?: string; within_days?: number } = value === '' ? {} : JSON.parse(value);
  const id = useId();
  const set = (event: string, days: string): void =>
    onChange(
      event.trim() === ''
        ? ''
        : JSON.stringify({ name: event.trim(), ...(days && { within_days: Number(days) }) }),
    );
  const days = now.within_days === undefined ? '' : String(now.within_days);
  const is_unknown =
    now.name !== undefined && known.length > 0 && !known.some((facet) => facet.name === now.name);
  return (
    <Field
      name={name}
      label={label}
      hint={is_unknown ? `Nobody on the list has the event “${now.name}”.` : 'Ever, or within so many days.'}
    >
      {(ties) => (
        <span class="field-row">
          <input
            {...ties}
            class="input"
            list={id}
            placeholder="ordered"
            autocomplete="off"
            value={now.name ?? ''}
            onInput={(event) => set(event.currentTarget.value, days)}
          />
          <input
            class="input days"
            type="number"
            min={1}
            aria-label={`${label}: within days`}
            placeholder="days"
            value={days}
            onInput={(event) => set(now.name ?? '', event.currentTarget.value)}
          />
          <datalist id={id}>
            {known.map((facet) => (
              <option key={facet.name} value={facet.name} label={`${facet.name} (${facet.count})`} />
            ))}
          </datalist>
        </span>
      )}
    </Field>
  );
}

export function Typed(
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
