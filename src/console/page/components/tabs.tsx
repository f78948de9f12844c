/** Parts of a page, each with an address of its own: `?tab=` says which one is shown. */
import { hrefOf, usePath, useQuery } from '../router.ts';

export function useTab<T extends string>(names: readonly [T, ...T[]]): T {
  const asked = useQuery().get('tab');
  return names.find((name) => name === asked) ?? names[0];
}

/** `keep`: other parts of the query, which stay as they are. */
export function Tabs<T extends string>(props: {
  tabs: Readonly<Record<T, string>>;
  now: T;
  keep?: Readonly<Record<string, string>>;
}) {
  const { tabs, now, keep = {} } = props;
  const path = usePath();
  const entries = Object.entries<string>(tabs);
  const queryOf = (tab: Record<string, string>): string => {
    const query = new URLSearchParams({ ...keep, ...tab });
    return query.size > 0 ? `?${query}` : '';
  };
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {entries.map(([name, title], index) => (
        <a
          key={name}
          href={hrefOf(path) + queryOf(index === 0 ? {} : { tab: name })}
          aria-current={name === now ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** One of a few, shown beside each other: which part, which colours, of how many days. */
export function Choice<T extends string>(props: {
  label: string;
  choices: readonly (readonly [value: T, title: string])[];
  now: T;
  onChoose(value: T): void;
}) {
  const { label, choices, now, onChoose } = props;
  return (
    <fieldset class="choice" aria-label={label}>
      {choices.map(([value, title]) => (
        <button key={value} type="button" aria-pressed={value === now} onClick={() => onChoose(value)}>
          {title}
        </button>
      ))}
    </fieldset>
  );
}

export type Scheme = 'light' | 'dark';

/** In which colours the reader's system asks for what is shown. */
export function SchemeChoice({ now, onChoose }: { now: Scheme; onChoose(value: Scheme): void }) {
  return (
    <Choice<Scheme>
      label="Colours"
      choices={[
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]}
      now={now}
      onChoose={onChoose}
    />
  );
}
