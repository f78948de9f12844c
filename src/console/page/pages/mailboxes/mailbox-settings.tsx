/** Changing a mailbox, and removing it. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Ending } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import type { MailboxPartProps } from './detail.tsx';
import { MailboxFields, readChanges } from './mailbox-fields.tsx';

export function MailboxSettings({ of, etag, onChange }: MailboxPartProps) {
  const [turn, setTurn] = useState(0);
  const path = { address: of.address };
  const change = async (entered: Entered): Promise<void> => {
    const body = readChanges(entered, of);
    await call('PATCH /mailboxes/{address}', { path, body, if_match: entered.version });
    toast('The changes are saved and hold from the next mail on');
    // A password that went in is not left in its field.
    setTurn(turn + 1);
    onChange();
  };
  const remove = async (): Promise<void> => {
    await call('DELETE /mailboxes/{address}', { path });
    toast(`${of.address} is removed`);
    navigate('/mailboxes', { replace: true });
  };
  return (
    <>
      <Panel title="Settings">
        <Form submit="Save the changes" version={etag} onSubmit={change}>
          <MailboxFields key={turn} of={of} />
        </Form>
      </Panel>
      <Ending
        title="Remove the mailbox"
        lead="What went out from it stays in the log. To stop it for a while, pause it."
        name={of.address}
        act={remove}
      >
        With it go its relay’s host and password
        {of.inbox && `, and its inbox, which is read no longer`}.{' '}
        {of.waiting_emails > 0 &&
          `${counted(of.waiting_emails, 'mail')} that wait for it must find another mailbox, or fail.`}
      </Ending>
    </>
  );
}
