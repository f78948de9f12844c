/** Adding a mailbox: its relay is tried before anything is saved. */
import { useState } from 'preact/hooks';
import type { NewMailbox, RelayCheck } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { MailboxFields, type OutletName, readNew } from './mailbox-fields.tsx';
import { RelayRefused } from './relay-fields.tsx';

export default function NewMailboxPage() {
  const [outlet, setOutlet] = useState<OutletName>('relay');
  const [refused, setRefused] = useState<{ check: RelayCheck; body: NewMailbox } | null>(null);
  const save = async (body: NewMailbox): Promise<void> => {
    const { address } = await call('POST /mailboxes', { body });
    toast(`${address} is added`);
    navigate(to`/mailboxes/${address}`);
  };
  const add = async (entered: Entered): Promise<void> => {
    const body = readNew(entered);
    setRefused(null);
    if (body.capture) return save(body);
    const check = await call('POST /mailboxes/check', { body });
    if (check.ok) await save(body);
    else setRefused({ check, body });
  };
  return (
    <>
      <PageHeader
        title="Add a mailbox"
        back={{ href: hrefOf('/mailboxes'), label: 'Mailboxes' }}
        lead={
          <>
            An address of one of your <a href={hrefOf('/sending-domains')}>sending domains</a>. For a new
            domain, <a href={hrefOf(wayToSetUp('/mailboxes'))}>set up sending</a>.
          </>
        }
      />
      <Panel>
        <div class="stack">
          <Form
            submit={outlet === 'capture' ? 'Add the mailbox' : 'Try it and save'}
            onSubmit={add}
            onCancel={() => navigate('/mailboxes')}
          >
            <TextField
              name="address"
              label="Address"
              type="email"
              placeholder="hello@mail.example.com"
              hint="What readers see as the sender, unless a mail says otherwise."
              is_focused
              is_mono
            />
            <MailboxFields onOutlet={setOutlet} />
          </Form>
          {refused && <RelayRefused check={refused.check} save={() => save(refused.body)} />}
        </div>
      </Panel>
    </>
  );
}
