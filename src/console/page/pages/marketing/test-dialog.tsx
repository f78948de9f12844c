/** Sending a mail of marketing to an address of one's own, before anybody else gets it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';

export function TestDialog(props: {
  project: string;
  title: string;
  send(to: string): Promise<{ email_id: string }>;
  onClose(): void;
  children: ComponentChildren;
}) {
  const { project, title, send, onClose, children } = props;
  const [sent, setSent] = useState<{ email_id: string; to: string } | null>(null);
  const submit = async (entered: Entered): Promise<void> => {
    const address = entered.text('to');
    const { email_id } = await send(address);
    setSent({ email_id, to: address });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {sent && (
        <p class="notice good" role="status">
          <span>
            On its way to {sent.to}.{' '}
            <a href={hrefOf(to`/projects/${project}/emails/${sent.email_id}`)}>See what becomes of it</a>
          </span>
        </p>
      )}
      <p class="muted">{children}</p>
      <Form is_fleeting submit="Send the test" onSubmit={submit} onCancel={onClose}>
        <TextField name="to" label="To" type="email" value={person.value?.email} is_focused />
      </Form>
    </Dialog>
  );
}
