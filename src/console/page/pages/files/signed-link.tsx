/** Making a link that opens the file without a key for a while. */
import { useState } from 'preact/hooks';
import type { ObjectLink, ObjectRecord } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { check, choice, Fields, mapped } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { FilePath } from './file-form.tsx';

const FIELDS = {
  expires_in_seconds: mapped<number, string>(
    choice('Good for', [
      ['3600', 'One hour'],
      ['86400', 'One day'],
      ['259200', 'Three days'],
      ['604800', 'One week, the longest'],
    ]),
    String,
    Number,
  ),
  download: check('Downloads the file', { hint: 'Instead of showing it in the browser.' }),
};

export function SignedLink({ path, of }: { path: FilePath; of: ObjectRecord }) {
  const [made, setMade] = useState<ObjectLink | null>(null);
  const create = async (entered: Entered): Promise<void> => {
    const body = entered.read(FIELDS);
    setMade(await call('POST /projects/{project}/objects/{public_id}/links', { path, body }));
  };
  return (
    <Panel
      title="Signed link"
      is_for_writing
      lead={
        of.visibility === 'public'
          ? 'The file is public: its link opens it as well, and for ever.'
          : 'Opens the file without a key. Whoever has the link has the file, until it expires or all links are revoked.'
      }
    >
      <div class="stack">
        <Form is_fleeting submit="Make a link" onSubmit={create}>
          <Fields fields={FIELDS} />
        </Form>
        {made && (
          <div class="notice good" role="status">
            <p>
              It expires <Time at={made.expires_at} />. It is not kept here: copy it now.
            </p>
            <div class="secret">
              <code>{made.url}</code>
              <CopyButton text={made.url} label="Copy the link" />
            </div>
          </div>
        )}
      </div>
    </Panel>
  );
}
