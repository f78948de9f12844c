/** Chooses a field for each column, beside the values of the first rows. */
import type { ImportColumn } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { customNameOf, FIELDS, KEEP, LEFT_OUT, readTarget, type Target } from './columns.ts';
import type { CsvHead } from './csv-head.ts';

export function ColumnChoice(props: {
  head: CsvHead;
  columns: readonly ImportColumn[];
  targets: readonly Target[];
  onChange(targets: Target[]): void;
}) {
  const { head, columns, targets, onChange } = props;
  const wrong = [...useFieldErrors('column_map'), ...useFieldErrors('keep_columns')];
  const choose = (index: number, value: string): void =>
    onChange(targets.map((target, at) => (at === index ? readTarget(value) : target)));
  return (
    <fieldset>
      <legend class="field-label">Columns</legend>
      <input type="hidden" name="column_map" />
      <input type="hidden" name="keep_columns" />
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
      <div class="sunken-table">
        <table class="table-cards" aria-label="Columns of the file">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">First rows</th>
              <th scope="col">Becomes</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column, index) => (
              <ColumnRow
                key={`${index} ${column.header}`}
                column={column}
                samples={head.rows.map((row) => row[index] ?? '')}
                target={targets[index] ?? ''}
                onChange={(value) => choose(index, value)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </fieldset>
  );
}

function ColumnRow(props: {
  column: ImportColumn;
  samples: readonly string[];
  target: Target;
  onChange(value: string): void;
}) {
  const { column, samples, target, onChange } = props;
  const { header, left_out } = column;
  return (
    <tr>
      <td data-label="Column">
        <span>{header || <span class="muted">(no name)</span>}</span>
      </td>
      <td data-label="First rows">
        <span class="column-samples muted">
          {samples.map((sample, index) => (
            <span key={`${index} ${sample}`}>{sample || '—'}</span>
          ))}
        </span>
      </td>
      <td data-label="Becomes">
        {left_out ? (
          <span class="muted">{LEFT_OUT[left_out]}</span>
        ) : (
          <select
            class="input"
            aria-label={`What ${header} becomes`}
            value={target}
            onChange={(event) => onChange(event.currentTarget.value)}
          >
            <option value="">Left out</option>
            {Object.entries(FIELDS).map(([field, label]) => (
              <option key={field} value={field}>
                {label}
              </option>
            ))}
            <option value={KEEP}>Custom field {customNameOf(header)}</option>
          </select>
        )}
      </td>
    </tr>
  );
}
