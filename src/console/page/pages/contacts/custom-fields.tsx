/** The custom fields of a contact: a name, a kind and a value each, which templates use as {{custom.name}}. */
import { useState } from 'preact/hooks';
import { ApiError, isObject } from '../../api.ts';
import { type Entered, useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';

const KINDS = { text: 'Text', number: 'Number', boolean: 'Yes or no' } as const;
type Kind = keyof typeof KINDS;

interface Row {
  /** Stays with the row while others come and go. */
  key: number;
  name: string;
  kind: Kind;
  value: string;
}

function rowsOf(custom: Readonly<Record<string, unknown>>): Row[] {
  return Object.entries(custom).map(([name, value], key) => ({
    key,
    name,
    value: String(value),
    kind: typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text',
  }));
}

export function CustomFields({ custom }: { custom: Readonly<Record<string, unknown>> }) {
  const [rows, setRows] = useState(() => rowsOf(custom));
  const wrong = useFieldErrors('custom');
  const change = (key: number, changes: Partial<Row>): void =>
    setRows((last) => last.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  const add = (): void =>
    setRows((last) => [
      ...last,
      { key: Math.max(-1, ...last.map(({ key }) => key)) + 1, name: '', kind: 'text', value: '' },
    ]);
  return (
    <fieldset>
      <legend class="field-label">Custom fields</legend>
      <div class="stack-small">
        {rows.map((row) => (
          <CustomRow
            key={row.key}
            row={row}
            onChange={(changes) => change(row.key, changes)}
            onRemove={() => setRows((last) => last.filter(({ key }) => key !== row.key))}
          />
        ))}
        {rows.length === 0 && <p class="muted">None yet. Templates use one as {'{{custom.name}}'}.</p>}
        {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
        <div>
          <button type="button" class="button small" onClick={add}>
            <Icon name="plus" />
            Add a field
          </button>
        </div>
      </div>
      <input type="hidden" name="custom" value={JSON.stringify(rows)} />
    </fieldset>
  );
}

function CustomRow(props: { row: Row; onChange(changes: Partial<Row>): void; onRemove(): void }) {
  const { row, onChange, onRemove } = props;
  const called = row.name || 'the new field';
  return (
    <div class="custom-row">
      <input
        class="input"
        aria-label={`Name of ${called}`}
        placeholder="Name"
        value={row.name}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      <select
        class="input"
        aria-label={`Kind of ${called}`}
        value={row.kind}
        onChange={(event) => {
          const kind = readKind(event.currentTarget.value);
          onChange({ kind, ...(kind === 'boolean' && { value: 'true' }) });
        }}
      >
        {Object.entries(KINDS).map(([kind, label]) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </select>
      {row.kind === 'boolean' ? (
        <select
          class="input"
          aria-label={`Value of ${called}`}
          value={row.value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        >
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      ) : (
        <input
          class="input"
          aria-label={`Value of ${called}`}
          placeholder="Value"
          value={row.value}
          onInput={(event) => onChange({ value: event.currentTarget.value })}
        />
      )}
      <button type="button" class="button quiet square" aria-label={`Remove ${called}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function readKind(value: string): Kind {
  return Object.hasOwn(KINDS, value) ? (value as Kind) : 'text';
}

/** The fields as the API takes them. Throws ApiError for what is no number, and for a name that stands twice. */
export function enteredCustom(entered: Entered): Record<string, string | number | boolean> {
  const rows: unknown = JSON.parse(entered.exact('custom'));
  const custom = new Map<string, string | number | boolean>();
  const wrong: string[] = [];
  for (const row of Array.isArray(rows) ? rows : []) {
    if (!isObject(row)) continue;
    const name = String(row.name).trim();
    const value = String(row.value);
    if (name === '' && value === '') continue;
    if (custom.has(name)) wrong.push(`${name}: there are two fields of this name.`);
    if (row.kind === 'number' && (value.trim() === '' || !Number.isFinite(Number(value))))
      wrong.push(`${name}: is no number.`);
    custom.set(
      name,
      row.kind === 'number' ? Number(value) : row.kind === 'boolean' ? value === 'true' : value,
    );
  }
  if (wrong.length > 0)
    throw new ApiError(422, { message: 'Some custom fields do not fit.', errors: { custom: wrong } });
  return Object.fromEntries(custom);
}
