/** Changing the name, visibility and expiry of a file. */
import { useState } from 'preact/hooks';
import type { ObjectRecord } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { FilePath } from './file-path.ts';

export function FileForm(props: { path: FilePath; of: ObjectRecord; etag: string | null; onChange(): void }) {
  const { path, of, etag, onChange } = props;
  const [expiry, setExpiry] = useState('same');
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/objects/{public_id}', {
      path,
      if_match: entered.version,
      body: {
        original_filename: entered.text('original_filename'),
        visibility: entered.text('visibility') === 'public' ? 'public' : 'private',
        ...(expiry === 'never' && { expires_in_days: null }),
        ...(expiry === 'days' && { expires_in_days: entered.numberOrNull('expires_in_days') ?? 0 }),
      },
    });
    toast('The changes are saved');
    setExpiry('same');
    onChange();
  };
  return (
    <Panel title="Change" lead="The bytes of a file never change: upload another one instead.">
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <TextField name="original_filename" label="Name" value={of.original_filename} />
        <SelectField
          name="visibility"
          label="Visibility"
          value={of.visibility}
          choices={[
            ['private', 'Private: with a key, or a link for a while'],
            ['public', 'Public: everybody who has the link'],
          ]}
          hint="Who has fetched a public file may keep it: making it private does not reach them."
        />
        <SelectField
          name="expiry"
          label="Expiry"
          value={expiry}
          onChange={setExpiry}
          choices={[
            ['same', of.expires_at ? 'As it is' : 'Never, as it is'],
            ...(of.expires_at ? ([['never', 'Never']] as const) : []),
            ['days', 'After a number of days from now'],
          ]}
        />
        {expiry === 'days' && <TextField name="expires_in_days" label="Days to keep" type="number" />}
      </Form>
    </Panel>
  );
}
