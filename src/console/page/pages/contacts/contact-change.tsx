/** What of a contact may be changed: its names, tags, custom fields and where it came from. */
import type { Contact } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { CustomFields, enteredCustom } from './custom-fields.tsx';

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
        first_name: entered.textOrNull('first_name'),
        last_name: entered.textOrNull('last_name'),
        source: entered.textOrNull('source'),
        reason: entered.textOrNull('reason'),
        tags: entered.lines('tags'),
        custom: enteredCustom(entered),
      },
    });
    toast('The changes are saved');
    onChange();
  };
  return (
    <Panel title="About the person">
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <TextField name="first_name" label="First name" value={contact.first_name} />
        <TextField name="last_name" label="Last name" value={contact.last_name} />
        <TextAreaField
          name="tags"
          label="Tags"
          rows={Math.max(2, contact.tags.length)}
          value={contact.tags.join('\n')}
          hint="One on each line."
        />
        <CustomFields custom={contact.custom} />
        <TextField name="source" label="Source" value={contact.source} hint="Where the contact came from." />
        <TextField name="reason" label="Reason" value={contact.reason} hint="Why it may be mailed." />
      </Form>
    </Panel>
  );
}
