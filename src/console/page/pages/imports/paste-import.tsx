/** Importing what is pasted: it ends at once, but for rows whose domain nobody can tell about yet. */
import type { ContactList } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { TextAreaField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { navigate, to } from '../../router.ts';
import { enteredDefaults, ImportDefaults } from './import-defaults.tsx';

export interface NewImportProps {
  path: { project: string; list: string };
  list: ContactList;
}

export function PasteImport({ path, list }: NewImportProps) {
  const start = async (entered: Entered): Promise<void> => {
    const defaults = enteredDefaults(entered, { list, is_in_rows: false });
    const started = await call('POST /projects/{project}/email-lists/{list}/imports', {
      path,
      body: { method: 'paste', text: entered.exact('text'), defaults },
    });
    navigate(to`/projects/${path.project}/imports/${started.id}`);
  };
  return (
    <Panel title={`Into the list ${list.name}`}>
      <Form submit="Import" onSubmit={start}>
        <TextAreaField
          name="text"
          label="Addresses"
          rows={10}
          placeholder={'ann@example.org\nBob Smith <bob@example.org>\neve@example.org, Eve, Miller'}
          hint="One on each line, with a name or without; or rows of a spreadsheet with the line that names its columns. Up to 5,000: more go into a CSV file."
          is_mono
        />
        <ImportDefaults list={list} method="paste" />
      </Form>
    </Panel>
  );
}
