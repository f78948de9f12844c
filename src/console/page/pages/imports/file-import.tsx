/** Importing a CSV file: its beginning is read here for the preview, and the file goes up once the columns are chosen. */
import { useRef, useState } from 'preact/hooks';
import type { ImportColumn } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Field } from '../../components/field.tsx';
import { CheckField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Notice, Panel } from '../../components/page.tsx';
import { tellBytes } from '../../components/quantity.tsx';
import { navigate, to } from '../../router.ts';
import { ColumnChoice } from './column-choice.tsx';
import { mapOf, refusalOfChoice, type Target, targetOf } from './columns.ts';
import { type CsvHead, readCsvHead } from './csv-head.ts';
import { enteredDefaults, ImportDefaults, refused } from './import-defaults.tsx';
import type { NewImportProps } from './paste-import.tsx';

/** As long as a failed import can be gone on with; what `satchel import start` takes too. */
const KEPT_DAYS = '30';

export function FileImport({ path, list }: NewImportProps) {
  const [file, setFile] = useState<File | null>(null);
  const [head, setHead] = useState<CsvHead | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [columns, setColumns] = useState<readonly ImportColumn[]>([]);
  const [targets, setTargets] = useState<Target[]>([]);
  const [is_uploading, setUploading] = useState(false);
  // After a refusal of the import the same file is not uploaded again.
  const uploaded = useRef<{ file: File; object: string } | null>(null);

  const choose = async (chosen: File | null): Promise<void> => {
    setFile(chosen);
    setHead(null);
    if (!chosen) return;
    setProblem(null);
    try {
      const read = await readCsvHead(chosen);
      const found = await call('POST /projects/{project}/email-lists/{list}/imports/columns', {
        path,
        body: { headers: read.headers },
      });
      setProblem(read.problem);
      setColumns(found);
      setTargets(found.map(targetOf));
      setHead(read);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const start = async (entered: Entered): Promise<void> => {
    if (!file || !head) throw refused('file', 'Choose a CSV file.');
    const refusal = refusalOfChoice(targets);
    if (refusal) throw refused('column_map', refusal);
    const defaults = enteredDefaults(entered, { list, is_in_rows: targets.includes('consent_basis') });
    setUploading(true);
    try {
      if (uploaded.current?.file !== file)
        uploaded.current = { file, object: await upload(path.project, file) };
      const { object } = uploaded.current;
      const body = {
        method: 'csv' as const,
        object,
        ...mapOf(columns, targets),
        defaults,
        delimiter: head.delimiter,
        update_existing: entered.flag('update_existing'),
      };
      const started = await call('POST /projects/{project}/email-lists/{list}/imports', { path, body });
      navigate(to`/projects/${path.project}/imports/${started.id}`);
    } finally {
      setUploading(false);
    }
  };
  return (
    <Panel title={`Into the list ${list.name}`}>
      <Form submit="Import the file" onSubmit={start} is_disabled={!head}>
        <Field
          name="file"
          label="File"
          hint="CSV in UTF-8, with commas, semicolons, tabs or bars. Its first row names the columns; the file is kept for 30 days, private."
        >
          {(ties) => (
            <input
              {...ties}
              class="input"
              type="file"
              accept=".csv,text/csv"
              onChange={(event) => void choose(event.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
        {problem && (
          <Notice tone="warn" role="alert">
            {problem}
          </Notice>
        )}
        {head && <ColumnChoice head={head} columns={columns} targets={targets} onChange={setTargets} />}
        {head && (
          <>
            <ImportDefaults list={list} method="csv" />
            <CheckField
              name="update_existing"
              label="Change contacts that are on the list already"
              hint="Their names, tags and custom fields become those of the file; their status stays."
            />
          </>
        )}
        {is_uploading && file && (
          <p class="muted" role="status">
            The file is being uploaded ({tellBytes(file.size)}). Stay on this page until it is there; the
            import then goes on by itself.
          </p>
        )}
      </Form>
    </Panel>
  );
}

/** Keeps a file as long as an import may need it; returns its id. */
export async function upload(project: string, file: File): Promise<string> {
  const form = new FormData();
  form.set('visibility', 'private');
  form.set('expires_in_days', KEPT_DAYS);
  form.set('file', file);
  const stored = await call('POST /projects/{project}/objects', { path: { project }, body: form });
  return stored.public_id;
}
