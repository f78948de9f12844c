/** Filters above a list, kept in the address: words as one types, and choices. */
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

export function SearchFilter(props: {
  name?: string;
  label: string;
  /** Suggested as one types. */
  list?: readonly string[];
}) {
  const { name = 'q', label, list } = props;
  const id = useId();
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
    <>
      <input
        class="input"
        type="search"
        placeholder={label}
        aria-label={label}
        value={typed}
        list={list && id}
        onInput={(event) => setTyped(event.currentTarget.value)}
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

export function ChoiceFilter(props: {
  name: string;
  label: string;
  choices: readonly string[];
  tell?: (choice: string) => string;
}) {
  const { name, label, choices, tell = (choice) => choice.replaceAll('_', ' ') } = props;
  const now = useQuery().get(name) ?? '';
  // What is gone by now may have left something to find: a template its mails.
  const all = now === '' || choices.includes(now) ? choices : [...choices, now];
  return (
    <select
      class="input"
      aria-label={label}
      value={now}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: all</option>
      {all.map((choice) => (
        <option key={choice} value={choice}>
          {tell(choice)}
        </option>
      ))}
    </select>
  );
}
