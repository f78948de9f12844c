/** A field of rows, of which one adds and removes: what is in a row is its maker's. */
import type { ComponentChildren } from 'preact';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';

export function RowsField<Row extends { uid: number }>(props: {
  name: string;
  label: string;
  /** One of them, as its buttons say it. */
  noun: readonly [article: string, word: string];
  of: readonly Row[];
  makeRow(): Row;
  onChange(rows: Row[]): void;
  cells(row: Row, index: number, set: (change: Partial<Row>) => void): ComponentChildren;
  hint?: ComponentChildren;
}) {
  const { name, label, noun, of, makeRow, onChange, cells, hint } = props;
  const wrong = useFieldErrors(name);
  const set = (uid: number, change: Partial<Row>): void =>
    onChange(of.map((each) => (each.uid === uid ? { ...each, ...change } : each)));
  return (
    <fieldset class="field" name={name}>
      <legend class="field-label">{label}</legend>
      {of.map((row, index) => (
        <div key={row.uid} class="field-row">
          {cells(row, index, (change) => set(row.uid, change))}
          <button
            type="button"
            class="button quiet square"
            aria-label={`Remove ${noun[1]} ${index + 1}`}
            onClick={() => onChange(of.filter(({ uid }) => uid !== row.uid))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div>
        <button type="button" class="button small" onClick={() => onChange([...of, makeRow()])}>
          <Icon name="plus" size={14} />
          Add {noun.join(' ')}
        </button>
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      {hint && <p class="hint">{hint}</p>}
    </fieldset>
  );
}
