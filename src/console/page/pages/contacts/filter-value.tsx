/** The value of a condition: typed, or chosen among those on the list, each with its number of people. */
import { useId } from 'preact/hooks';
import { dayOf, momentOf } from '../../components/filters.tsx';
import { useAll, useLoad } from '../../use-load.ts';
import { type Kind, type Row, STATUSES, textOf, wordsOf } from './filter.ts';

interface ValueProps {
  kind: Kind;
  of: Row;
  list: { project: string; list: string } | null;
  /** As the API calls it. */
  name: string;
  is_wrong: boolean;
  onChange(changes: Partial<Row>): void;
}

type ListPath = { project: string; list: string } | null;

export function FilterValue(props: ValueProps) {
  const { kind } = props;
  if (kind === 'tags') return <Tags {...props} />;
  if (kind === 'named') return <Named {...props} />;
  if (kind === 'event') return <Event {...props} />;
  if (kind === 'status')
    return <Choice {...props} choices={STATUSES.map((each): [string, string] => [each, each])} />;
  if (kind === 'broadcast') return <Broadcasts {...props} />;
  if (kind === 'sequence') return <Sequences {...props} />;
  if (kind === 'days')
    return (
      <>
        <Typed {...props} label="Days" type="number" placeholder="30" />
        <span class="muted">days</span>
      </>
    );
  if (kind === 'day') return <Day {...props} />;
  return <Typed {...props} label="Value" placeholder={kind === 'words' ? 'example.com, example.org' : ''} />;
}

const useFacets = (list: ListPath) =>
  useLoad('GET /projects/{project}/email-lists/{list}/facets', list && { path: list }).data;

function Typed(
  props: ValueProps & {
    label: string;
    type?: 'text' | 'number';
    placeholder?: string;
    options?: string;
  },
) {
  const { of, name, is_wrong, onChange, label, type = 'text', placeholder, options } = props;
  return (
    <input
      class="input"
      // Preact has attributes of their own for each type; those here are of all of them.
      type={type as 'text'}
      name={name}
      aria-label={label}
      aria-invalid={is_wrong || undefined}
      min={type === 'number' ? 1 : undefined}
      list={options}
      placeholder={placeholder}
      autocomplete="off"
      value={of.value}
      onInput={(event) => onChange({ value: event.currentTarget.value })}
    />
  );
}

/** The moment at which it begins for whoever looks. */
function Day({ of, name, is_wrong, onChange }: ValueProps) {
  return (
    <input
      class="input"
      type="date"
      name={name}
      aria-label="Day"
      aria-invalid={is_wrong || undefined}
      value={dayOf(of.value)}
      onInput={(event) => onChange({ value: momentOf(event.currentTarget.value) })}
    />
  );
}

/** More are found by typing. */
const SHOWN = 12;

/** With commas between; those that there are, are put in and taken out by their buttons. */
function Tags(props: ValueProps) {
  const { of, list, onChange } = props;
  const facets = useFacets(list)?.tags ?? null;
  const chosen = wordsOf(of.value);
  const unknown = facets === null ? [] : chosen.filter((word) => !facets.some(({ name }) => name === word));
  const toggle = (name: string): void =>
    onChange({
      value: textOf(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]),
    });
  return (
    <>
      <Typed {...props} label="Tags" placeholder="customer, vip" />
      {unknown.length > 0 && (
        <span class="hint">
          Nobody on the list is tagged {unknown.map((each) => `“${each}”`).join(', ')}.
        </span>
      )}
      {facets !== null && facets.length > 0 && (
        <span class="facets">
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
        </span>
      )}
    </>
  );
}

/** A field and its value. */
function Named(props: ValueProps) {
  const { of, list, onChange } = props;
  const facets = useFacets(list)?.custom ?? [];
  const id = useId();
  const samples = facets.find((facet) => facet.name === of.name.trim())?.samples ?? [];
  const is_unknown =
    of.name.trim() !== '' && facets.length > 0 && !facets.some((facet) => facet.name === of.name.trim());
  return (
    <>
      <input
        class="input mono"
        aria-label="Field"
        placeholder="plan"
        list={`${id}-names`}
        autocomplete="off"
        value={of.name}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Typed {...props} label="Value" placeholder="pro" options={`${id}-values`} />
      {is_unknown && <span class="hint">Nobody on the list has “{of.name.trim()}”.</span>}
      <datalist id={`${id}-names`}>
        {facets.map(({ name, count }) => (
          <option key={name} value={name} label={`${name} (${count})`} />
        ))}
      </datalist>
      <datalist id={`${id}-values`}>
        {samples.map((sample) => (
          <option key={String(sample)} value={String(sample)} />
        ))}
      </datalist>
    </>
  );
}

/** An event, ever or within so many days. */
function Event(props: ValueProps) {
  const { of, list, onChange } = props;
  const known = useFacets(list)?.events ?? [];
  const id = useId();
  const is_unknown =
    of.value.trim() !== '' && known.length > 0 && !known.some((facet) => facet.name === of.value.trim());
  return (
    <>
      <Typed {...props} label="Event" placeholder="ordered" options={id} />
      <input
        class="input"
        type="number"
        min={1}
        aria-label="Within days"
        placeholder="ever, or days"
        value={of.days}
        onInput={(event) => onChange({ days: event.currentTarget.value })}
      />
      {is_unknown && <span class="hint">Nobody on the list has the event “{of.value.trim()}”.</span>}
      <datalist id={id}>
        {known.map((facet) => (
          <option key={facet.name} value={facet.name} label={`${facet.name} (${facet.count})`} />
        ))}
      </datalist>
    </>
  );
}

/** Those of which mail has gone out. */
const BEGUN = ['sending', 'testing', 'paused', 'sent', 'cancelled'];

function Broadcasts(props: ValueProps) {
  const { list } = props;
  const all = useAll(
    'GET /projects/{project}/email-broadcasts',
    list && { path: { project: list.project } },
  ).data;
  const own = all?.filter((each) => each.list === list?.list && BEGUN.includes(each.status)) ?? [];
  return <Choice {...props} choices={own.map(({ id, name }): [string, string] => [id, name])} />;
}

function Sequences(props: ValueProps) {
  const { list } = props;
  const all = useAll(
    'GET /projects/{project}/email-sequences',
    list && { path: { project: list.project } },
  ).data;
  const own = all?.filter((each) => each.list === list?.list) ?? [];
  return <Choice {...props} choices={own.map(({ id, name }): [string, string] => [id, name])} />;
}

function Choice(props: ValueProps & { choices: readonly [value: string, label: string][] }) {
  const { of, name, is_wrong, onChange, choices } = props;
  return (
    <select
      class="input"
      name={name}
      aria-label="Which"
      aria-invalid={is_wrong || undefined}
      value={of.value}
      onChange={(event) => onChange({ value: event.currentTarget.value })}
    >
      <option value="">{choices.length === 0 ? 'There is none yet' : 'Choose…'}</option>
      {/* What is chosen stays a choice, whatever became of it. */}
      {of.value !== '' && !choices.some(([value]) => value === of.value) && (
        <option value={of.value}>{of.value}</option>
      )}
      {choices.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
