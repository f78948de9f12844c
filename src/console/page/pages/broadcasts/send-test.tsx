/** Sending a broadcast's mail to an address of one's own, before anybody else gets it. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';

export function SendTest(props: { path: { project: string; broadcast: string }; onClose(): void }) {
  const { path, onClose } = props;
  const [sent, setSent] = useState<{ email_id: string; to: string } | null>(null);
  const send = async (entered: Entered): Promise<void> => {
    const address = entered.text('to');
    const { email_id } = await call('POST /projects/{project}/email-broadcasts/{broadcast}/test', {
      path,
      body: { to: address },
    });
    setSent({ email_id, to: address });
  };
  return (
    <Dialog title="Send a test" onClose={onClose}>
      {sent && (
        <p class="notice good" role="status">
          <span>
            On its way to {sent.to}.{' '}
            <a href={hrefOf(to`/projects/${path.project}/emails/${sent.email_id}`)}>See what becomes of it</a>
          </span>
        </p>
      )}
      <p class="muted">
        With sample values, and marked as a test in its subject. It goes out at once, and nothing of it
        counts.
      </p>
      <Form is_fleeting submit="Send the test" onSubmit={send} onCancel={onClose}>
        <TextField name="to" label="To" type="email" value={person.value?.email} is_focused />
      </Form>
    </Dialog>
  );
}
