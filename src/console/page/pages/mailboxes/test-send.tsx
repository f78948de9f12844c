/** Sending one message through a mailbox at once, with what its relay answers. */
import { useState } from 'preact/hooks';
import type { MailboxTest } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import type { MailboxPartProps } from './detail.tsx';

export function TestSend({ of, onChange }: Omit<MailboxPartProps, 'etag'>) {
  const [result, setResult] = useState<MailboxTest | null>(null);
  const send = async (entered: Entered): Promise<void> => {
    setResult(null);
    const path = { address: of.address };
    setResult(await call('POST /mailboxes/{address}/test', { path, body: { to: entered.text('to') } }));
    onChange();
  };
  return (
    <Panel
      title="Send a test"
      lead="One message, at once and whatever the mailbox’s state. What its relay answers is shown here; one that is taken ends its rest."
    >
      <div class="stack">
        <Form is_fleeting submit="Send the test" onSubmit={send}>
          <TextField name="to" label="To" type="email" placeholder="you@example.org" is_mono />
        </Form>
        {result && <TestResult of={result} />}
      </div>
    </Panel>
  );
}

export function TestResult({ of }: { of: MailboxTest }) {
  const { outcome, smtp_code, response, to } = of;
  const is_good = outcome === 'sent' || outcome === 'captured';
  return (
    <div class={`notice ${is_good ? 'good' : 'bad'}`} role="status">
      <p>
        <strong>
          {outcome === 'sent' && `The relay took the message to ${to}.`}
          {outcome === 'captured' && 'The message was made and kept.'}
          {!is_good && `The message to ${to} did not go out (${outcome.replaceAll('_', ' ')}).`}
        </strong>
      </p>
      <p>
        {smtp_code !== null && `${smtp_code} · `}
        <q class="said">{response}</q>
      </p>
    </div>
  );
}
