/** Filters above a list, kept in the address: a search as one types, whole words, days, and choices. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { setQuery, useQuery } from '../router.ts';

/** Rests this long after the last key before the list is asked for. */
const REST_MS = 250;

export function Filters({ children }: { children: ComponentChildren }) {
  return (
    <search class="toolbar" aria-label="Filters">
      {children}
    </search>
  );
}

export function SearchFilter({ name = 'q', label }: { name?: string; label: string }) {
  const now = useQuery().get(name) ?? '';
  const [typed, setTyped] = useState(now);
  useEffect(() => setTyped(now), [now]);
  useEffect(() => {
    if (typed === now) return;
    const timer = setTimeout(() => setQuery({ [name]: typed.trim() }), REST_MS);
    return () => clearTimeout(timer);
  }, [typed, now, name]);
  return (
    <input
      class="input"
      type="search"
      placeholder={label}
      aria-label={label}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

export function ChoiceFilter(props: { name: string; label: string; choices: readonly string[] }) {
  const { name, label, choices } = props;
  return (
    <select
      class="input"
      aria-label={label}
      value={useQuery().get(name) ?? ''}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: all</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice.replaceAll('_', ' ')}
        </option>
      ))}
    </select>
  );
}

/** A whole word or address: applied by Enter, or on leaving the field. */
export function TextFilter({ name, label, list }: { name: string; label: string; list?: readonly string[] }) {
  const now = useQuery().get(name) ?? '';
  const id = useId();
  return (
    <>
      <input
        // What is typed is the field's own until it is applied.
        key={now}
        class="input"
        type="search"
        placeholder={label}
        aria-label={label}
        defaultValue={now}
        list={list && id}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
      {list && (
        <datalist id={id}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A day of the reader's own zone. `is_last`: the filter is a moment before which things were, and the day still counts. */
export function DayFilter(props: { name: string; label: string; is_last?: boolean }) {
  const { name, label, is_last = false } = props;
  const at_ms = Date.parse(useQuery().get(name) ?? '');
  const shown = Number.isFinite(at_ms) ? new Date(is_last ? at_ms - 1 : at_ms) : null;
  const two = (part: number): string => String(part).padStart(2, '0');
  const apply = (day: string): void => {
    const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
    const moment = new Date(year, month - 1, is_last ? date + 1 : date);
    setQuery({ [name]: day === '' ? '' : moment.toISOString() });
  };
  return (
    <label class="day-filter">
      {label}
      <input
        class="input"
        type="date"
        value={shown ? `${shown.getFullYear()}-${two(shown.getMonth() + 1)}-${two(shown.getDate())}` : ''}
        onChange={(event) => apply(event.currentTarget.value)}
      />
    </label>
  );
}
