/** Changes a contact's names, tags, custom fields and source. */

import type { Contact } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Fields, lines, optional } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { CustomFields, enteredCustom } from './custom-fields.tsx';

const NAMES = { first_name: optional('First name'), last_name: optional('Last name') };
const TAGS = { tags: lines('Tags') };
const WHY = {
  source: optional('Source', { hint: 'Where the contact came from.' }),
  reason: optional('Reason', { hint: 'Why it may be mailed.' }),
};

export function ContactChange(props: {
  path: { project: string; contact: string };
  contact: Contact;
  /** The version that was read. */
  etag: string | null;
  onChange(): void;
}) {
  const { path, contact, etag, onChange } = props;
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/email-contacts/{contact}', {
      path,
      if_match: entered.version,
      body: {
        ...entered.read({ ...NAMES, ...TAGS, ...WHY }),
        custom: enteredCustom(entered),
      },
    });
    toast('The changes are saved');
    onChange();
  };
  return (
    <Panel title="About the person">
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <Fields fields={{ ...NAMES, ...TAGS }} of={contact} />
        <CustomFields custom={contact.custom} />
        <Fields fields={WHY} of={contact} />
      </Form>
    </Panel>
  );
}
