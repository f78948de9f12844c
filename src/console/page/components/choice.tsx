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
