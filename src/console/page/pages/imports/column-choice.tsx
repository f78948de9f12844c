/** Which column becomes which field, beside what the first rows hold. */
import { useFieldErrors } from '../../components/form.tsx';
import { FIELDS, KEEP, readTarget, refusalOf, type Target } from './columns.ts';
import type { CsvHead } from './csv-head.ts';

export function ColumnChoice(props: {
  head: CsvHead;
  targets: readonly Target[];
  onChange(targets: Target[]): void;
}) {
  const { head, targets, onChange } = props;
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
            {head.headers.map((header, index) => (
              <ColumnRow
                key={`${index} ${header}`}
                header={header}
                samples={head.rows.map((row) => row[index] ?? '')}
                refusal={refusalOf(head.headers, index)}
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
  header: string;
  samples: readonly string[];
  refusal: string | null;
  target: Target;
  onChange(value: string): void;
}) {
  const { header, samples, refusal, target, onChange } = props;
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
        {refusal ? (
          <span class="muted">{refusal}</span>
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
            <option value={KEEP}>A custom field</option>
          </select>
        )}
      </td>
    </tr>
  );
}
