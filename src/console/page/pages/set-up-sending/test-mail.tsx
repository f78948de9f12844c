/** A test mail to oneself, through the relay that was connected. */
import { useState } from 'preact/hooks';
import type { Mailbox, MailboxTest, SendingDomain } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { person } from '../../session.ts';
import { TestResult } from '../mailboxes/test-send.tsx';

export function TestMail({ of, mailbox }: { of: SendingDomain; mailbox: Mailbox | null }) {
  const [result, setResult] = useState<MailboxTest | null>(null);
  if (mailbox === null)
    return (
      <Panel title="3. Send yourself a test">
        <p class="muted">Once the relay is connected.</p>
      </Panel>
    );
  const send = async (entered: Entered): Promise<void> => {
    setResult(null);
    const path = { address: mailbox.address };
    setResult(await call('POST /mailboxes/{address}/test', { path, body: { to: entered.text('to') } }));
  };
  return (
    <Panel
      title="3. Send yourself a test"
      lead={
        of.is_verified || of.is_trusted
          ? 'One message, at once. See whether it arrives, and not as junk.'
          : 'One message, at once. Before the records are found it may be taken for junk.'
      }
    >
      <div class="stack">
        <Form is_fleeting submit="Send the test" onSubmit={send}>
          <TextField name="to" label="To" type="email" value={person.value?.email ?? ''} is_mono />
        </Form>
        {result && <TestResult of={result} />}
      </div>
    </Panel>
  );
}
