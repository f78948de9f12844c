/** The relay of the domain's mailbox: by its provider, tried before it is saved, with what its server said. */
import { useState } from 'preact/hooks';
import type { Mailbox, NewMailbox, RelayCheck, SendingDomain } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { newRelayIn, RelayFields, RelayRefused } from '../mailboxes/relay-fields.tsx';

interface Refused {
  check: RelayCheck;
  body: NewMailbox;
}

export function TryRelay(props: { of: SendingDomain; mailbox: Mailbox | null; onChange(): void }) {
  const { of, mailbox, onChange } = props;
  const [refused, setRefused] = useState<Refused | null>(null);
  const save = async (body: NewMailbox): Promise<void> => {
    await call('POST /mailboxes', { body });
    toast(`${body.address} is added`);
    setRefused(null);
    onChange();
  };
  const attempt = async (entered: Entered): Promise<void> => {
    const body: NewMailbox = {
      address: entered.text('address'),
      relay: newRelayIn(entered),
      for: ['transactional', 'marketing'],
    };
    setRefused(null);
    const check = await call('POST /mailboxes/check', { body });
    if (check.ok) await save(body);
    else setRefused({ check, body });
  };
  return (
    <Panel
      title="2. Connect the relay"
      actions={mailbox && <Status of="connected" tone="good" />}
      lead={
        mailbox ? '' : 'The server that takes the mail and delivers it. It is tried before anything is saved.'
      }
    >
      {mailbox ? (
        <p class="muted">{mailbox.address} sends through it.</p>
      ) : (
        <div class="stack">
          <Form is_wide submit="Try it and save" onSubmit={attempt}>
            <TextField
              name="address"
              label="Address"
              type="email"
              value={`hello@${of.name}`}
              hint="What readers see as the sender, unless a mail says otherwise."
              is_mono
            />
            <RelayFields relay={null} />
          </Form>
          {refused && <RelayRefused check={refused.check} save={() => save(refused.body)} />}
        </div>
      )}
    </Panel>
  );
}
