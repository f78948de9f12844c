/** Changing the name, visibility and expiry of a file. */
import { useState } from 'preact/hooks';
import type { ObjectRecord } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { choice, Fields, SelectField, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';

/** Visibilities of a file, in words. */
export const VISIBILITIES = {
  private: 'Private: with a key, or a link for a while',
  public: 'Public: everybody who has the link',
} as const;

const FIELDS = {
  original_filename: text('Name'),
  visibility: choice('Visibility', VISIBILITIES, {
    hint: 'Who has fetched a public file may keep it: making it private does not reach them.',
  }),
};

export function FileForm(props: { path: FilePath; of: ObjectRecord; etag: string | null; onChange(): void }) {
  const { path, of, etag, onChange } = props;
  const [expiry, setExpiry] = useState('same');
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/objects/{public_id}', {
      path,
      if_match: entered.version,
      body: {
        ...entered.read(FIELDS),
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
        <Fields fields={FIELDS} of={of} />
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

/** Names a file to the API. */
export interface FilePath {
  project: string;
  public_id: string;
}
