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
  // The address has what was typed, but for a space at its end; another text means that somebody went back.
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
  // A thing that is gone may have left something to find: a template its mails.
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

const DAY_MS = 86_400_000;

export function DateFilter(props: { name: string; label: string; is_end?: boolean }) {
  const { name, label, is_end = false } = props;
  const now = useQuery().get(name);
  const choose = (day: string): void => setQuery({ [name]: momentOf(day, is_end) });
  return (
    <label class="date-filter">
      <span class="muted">{label}</span>
      <input
        class="input"
        type="date"
        value={now === null ? '' : dayOf(now, is_end)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </label>
  );
}

/** The moment at which a day begins, or with `is_end` is over, for whoever looks; '' for none. */
export function momentOf(day: string, is_end = false): string {
  const at = new Date(`${day}T00:00`);
  if (!Number.isFinite(at.getTime())) return '';
  // The next day's beginning, which is 23 or 25 hours later where the clocks change.
  if (is_end) at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The day of such a moment, as a date field has it; '' for what is none. */
export function dayOf(moment: string, is_end = false): string {
  const at_ms = Date.parse(moment) - (is_end ? DAY_MS / 2 : 0);
  if (!Number.isFinite(at_ms)) return '';
  const at = new Date(at_ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
