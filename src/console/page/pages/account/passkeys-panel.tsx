/** The person's passkeys: added with the name that they give, and removed. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fields, password, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useList } from '../../use-load.ts';
import { addPasskey } from '../../webauthn.ts';

export function PasskeysPanel() {
  const list = useList('GET /console/passkeys', {});
  const [is_open, setOpen] = useState(false);
  const remove = async (passkey: string): Promise<void> => {
    await call('DELETE /console/passkeys/{passkey}', { path: { passkey } });
    list.reload();
  };
  return (
    <section>
      <h2 class="section-title">Passkeys</h2>
      <DataTable
        label="Passkeys"
        list={list}
        keyOf={(passkey) => passkey.id}
        empty={{
          title: 'A passkey signs you in by your fingerprint, your face or a PIN, without your password.',
        }}
        columns={[
          { title: 'Name', cell: (passkey) => passkey.name },
          { title: 'For', cell: (passkey) => <code>{passkey.host}</code> },
          { title: 'Added', cell: (passkey) => <Time at={passkey.created_at} /> },
          { title: 'Last used', cell: (passkey) => <Time at={passkey.last_used_at} /> },
          {
            title: 'Remove',
            is_number: true,
            cell: (passkey) => (
              <ActionButton
                is_small
                is_for_readers
                label={`Remove the passkey ${passkey.name}`}
                done="The passkey is removed here: remove it on your device too"
                act={() => remove(passkey.id)}
              >
                Remove
              </ActionButton>
            ),
          },
        ]}
      />
      {'PublicKeyCredential' in window && (
        <button type="button" class="button" onClick={() => setOpen(true)}>
          Add a passkey
        </button>
      )}
      {is_open && <Adding onClose={() => setOpen(false)} onAdded={list.reload} />}
    </section>
  );
}

const NAME = { name: text('Name', { hint: 'Where it is kept, such as Laptop.' }) };
const PASSWORD = {
  password: password('Password', {
    autocomplete: 'current-password',
    hint: 'As you signed in more than ten minutes ago. Whoever has none signs out and in again.',
  }),
};

function Adding({ onClose, onAdded }: { onClose(): void; onAdded(): void }) {
  const [wants_password, setWantsPassword] = useState(false);
  const add = async (entered: Entered): Promise<void> => {
    const given = wants_password ? entered.exact('password') : undefined;
    try {
      if (!(await addPasskey(entered.text('name'), given))) return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'confirm_first') throw error;
      setWantsPassword(true);
      return;
    }
    toast('The passkey is added');
    onAdded();
    onClose();
  };
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <Form is_fleeting is_for_readers submit="Go on" onSubmit={add} onCancel={onClose}>
        <Fields fields={wants_password ? { ...NAME, ...PASSWORD } : NAME} is_focused />
      </Form>
    </Dialog>
  );
}
