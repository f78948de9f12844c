/** Adding a mailbox. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { MailboxFields, readNew } from './mailbox-fields.tsx';
import { sendTestAskedIn } from './test-send.tsx';

export default function NewMailboxPage() {
  const add = async (entered: Entered): Promise<void> => {
    const { address, kind } = await call('POST /mailboxes', { body: readNew(entered) });
    const is_untried = kind !== 'capture' && entered.text('test_to') === '';
    toast(`${address} is added${is_untried ? '. Send a test to see that its relay takes mail' : ''}`);
    await sendTestAskedIn(entered, address).catch((error: unknown) => toast(String(error), 'bad'));
    navigate(to`/mailboxes/${address}`);
  };
  return (
    <>
      <PageHeader
        title="Add a mailbox"
        back={{ href: hrefOf('/mailboxes'), label: 'Mailboxes' }}
        lead={
          <>
            Its domain must be one of your <a href={hrefOf('/sending-domains')}>sending domains</a>. A new
            domain, its records and its relay: <a href={hrefOf(wayToSetUp('/mailboxes'))}>set up sending</a>.
          </>
        }
      />
      <Panel>
        <Form is_wide submit="Add the mailbox" onSubmit={add} onCancel={() => navigate('/mailboxes')}>
          <TextField
            name="address"
            label="Address"
            type="email"
            placeholder="hello@mail.example.com"
            hint="What readers see as the sender, unless a mail says otherwise."
            is_focused
            is_mono
          />
          <MailboxFields />
        </Form>
      </Panel>
    </>
  );
}
