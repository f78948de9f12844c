/** Filters above a list, kept in the address: a search as one types, whole words, and choices. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { setQuery, useQuery } from '../router.ts';
import { trimUnseen } from './address.ts';

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
  // What the address says since is what was typed, but for a space at its end; else somebody went back.
  useEffect(() => setTyped((before) => (trimUnseen(before) === now ? before : now)), [now]);
  useEffect(() => {
    if (trimUnseen(typed) === now) return;
    const timer = setTimeout(() => setQuery({ [name]: trimUnseen(typed) }, { replace: true }), REST_MS);
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
        onChange={(event) => setQuery({ [name]: trimUnseen(event.currentTarget.value) })}
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
