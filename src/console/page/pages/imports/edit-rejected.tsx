/** Rows that were not taken, to be edited and taken in again: an import of these rows alone, whose columns are what they were. */
import type { ContactList, Import } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { navigate, to } from '../../router.ts';
import { customNameOf, nameOf } from './columns.ts';
import { csvOf } from './csv-head.ts';
import { upload } from './file-import.tsx';
import { enteredDefaults, ImportDefaults } from './import-defaults.tsx';
import { tellReason } from './outcomes.ts';
import type { RejectedHead } from './rejected.tsx';

/** row_number, email and reason stand first. */
const EMAIL = 1;
const REASON = 2;

interface EditRejectedProps {
  path: { project: string; import: string };
  of: Import;
  list: ContactList;
  head: RejectedHead;
  onCancel(): void;
}

export function EditRejected({ path, of, list, head, onCancel }: EditRejectedProps) {
  const columns = columnsOf(of, head.headers);
  const start = async (entered: Entered): Promise<void> => {
    const is_in_rows = columns.some(({ field }) => field === 'consent_basis');
    const defaults = enteredDefaults(entered, { list, is_in_rows });
    const rows = head.rows.map((cells, at) =>
      cells.map((cell, place) =>
        columns.some((column) => column.place === place) ? entered.exact(nameOfCell(at, place)) : cell,
      ),
    );
    const file = new File([csvOf([head.headers, ...rows])], 'rejected.csv', { type: 'text/csv' });
    const body = {
      method: 'csv' as const,
      object: await upload(path.project, file),
      ...mapOf(columns),
      defaults,
      update_existing: of.update_existing,
    };
    const into = { project: path.project, list: list.id };
    const started = await call('POST /projects/{project}/email-lists/{list}/imports', { path: into, body });
    navigate(to`/projects/${path.project}/imports/${started.id}`);
  };
  return (
    <Form submit="Import these rows" onSubmit={start} onCancel={onCancel} is_wide>
      <input type="hidden" name="object" />
      <div class="sunken-table">
        <table class="table-cards" aria-label="Rows to edit">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {columns.map(({ place, label }) => (
                <th scope="col" key={place}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {head.rows.map((cells, at) => (
              <tr key={cells[0]}>
                <td data-label="Row">
                  <span>
                    {cells[0]} <span class="muted">{tellReason(cells[REASON] ?? '')}</span>
                  </span>
                </td>
                {columns.map(({ place, label }) => (
                  <td data-label={label} key={place}>
                    <input
                      class="input"
                      name={nameOfCell(at, place)}
                      aria-label={`${label} of row ${cells[0]}`}
                      defaultValue={cells[place] ?? ''}
                      autocomplete="off"
                      spellcheck={false}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ImportDefaults list={list} method="csv" of={of.defaults} />
    </Form>
  );
}

const nameOfCell = (at: number, place: number): string => `cell.${at}.${place}`;

interface Column {
  place: number;
  header: string;
  label: string;
  /** A field by the API's name; null is a custom field. */
  field: string | null;
}

/** Those that became something: the address, fields, and custom fields. */
function columnsOf({ columns }: Import, headers: readonly string[]): Column[] {
  const { fields = {}, kept = [] } = columns ?? {};
  return headers.flatMap((header, place): Column[] => {
    if (place === EMAIL) return [{ place, header, label: 'Email', field: 'email' }];
    if (place <= REASON || headers.indexOf(header, REASON + 1) !== place) return [];
    const field = Object.hasOwn(fields, header) ? fields[header] : undefined;
    if (field !== undefined && field !== 'email') return [{ place, header, label: nameOf(field), field }];
    return kept.includes(customNameOf(header)) ? [{ place, header, label: header, field: null }] : [];
  });
}

function mapOf(columns: readonly Column[]) {
  return {
    column_map: Object.fromEntries(
      columns.flatMap(({ header, field }) => (field === null ? [] : [[header, field]])),
    ),
    keep_columns: columns.flatMap(({ header, field }) => (field === null ? [header] : [])),
  };
}
