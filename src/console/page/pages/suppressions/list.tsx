/** Addresses that get no marketing mail of the project: kept as hashes, looked up by address, added and lifted. */
import { useEffect, useState } from 'preact/hooks';
import type { Suppression } from '../../api.generated.ts';
import { call, callTelling } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { addressIn } from '../../components/address.ts';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { setQuery, useQuery } from '../../router.ts';
import { useList } from '../../use-load.ts';

const KINDS: Readonly<Record<Suppression['kind'], string>> = {
  manual: 'By hand',
  unsubscribed: 'Unsubscribed',
  hard_bounce: 'Bounced for good',
  complaint: 'Complained',
};

/** Of a hash: enough to tell rows apart, and to type. */
const HASH_SHOWN = 8;

export default function SuppressionsPage({ params }: PageProps<'project'>) {
  const list = useList(
    'GET /projects/{project}/email-suppressions',
    { path: params },
    { filters: ['email'] },
  );
  const email = useQuery().get('email');
  const [is_adding, setAdding] = useState(false);
  const add = mayWrite() && (
    <button type="button" class="button primary" onClick={() => setAdding(true)}>
      <Icon name="plus" />
      Suppress an address
    </button>
  );
  return (
    <>
      <PageHeader
        title="Suppressions"
        lead="Addresses that get no marketing mail of this project, on whatever list. Only a hash of each is kept, so look one up by its address."
        actions={add}
      />
      <LookUp />
      <DataTable
        label="Suppressions"
        list={list}
        keyOf={(row) => row.id}
        columns={[
          {
            title: 'Address',
            cell: (row) => email ?? <code title={row.hash}>{row.hash.slice(0, HASH_SHOWN)}…</code>,
          },
          { title: 'Reason', cell: (row) => KINDS[row.kind] },
          { title: 'Since', cell: (row) => <Time at={row.created_at} /> },
          {
            title: 'Lift',
            is_number: true,
            cell: (row) => (
              <Lift
                project={params.project}
                of={row}
                name={email ?? row.hash.slice(0, HASH_SHOWN)}
                onChange={list.reload}
              />
            ),
          },
        ]}
        empty={
          <Empty
            drawing="nothing"
            title="Nobody is suppressed"
            command={`satchel suppression add ann@example.org --project ${params.project}`}
          >
            <p>
              Whoever unsubscribes, bounces for good or complains stands here by itself. You can add an
              address by hand.
            </p>
          </Empty>
        }
      />
      {is_adding && (
        <AddSuppression project={params.project} onClose={() => setAdding(false)} onChange={list.reload} />
      )}
    </>
  );
}

function Lift(props: { project: string; of: Suppression; name: string; onChange(): void }) {
  const { project, of, name, onChange } = props;
  const lift = async (): Promise<void> => {
    await call('DELETE /projects/{project}/email-suppressions/{suppression}', {
      path: { project, suppression: of.id },
    });
    toast('The suppression is lifted');
    onChange();
  };
  return (
    <ConfirmByName title="Lift" name={name} act={lift} is_small>
      <p>{WARNINGS[of.kind]} It is put on the audit trail.</p>
    </ConfirmByName>
  );
}

const WARNINGS: Readonly<Record<Suppression['kind'], string>> = {
  manual:
    'Somebody suppressed it by hand. The address may be added to lists again, and its active contacts are mailed again.',
  unsubscribed:
    'The person unsubscribed: lift it only where they asked to come back. Contacts that left stay so until the person signs up again by double opt-in; to other lists the address may be added.',
  hard_bounce:
    'Its mail came back for good: what bounces again harms the sender. Contacts of the address that bounced get the status that they had, and are mailed again.',
  complaint:
    'The person called a mail spam: mailing them again harms the sender. Contacts that complained stay so until the person signs up again by double opt-in; to other lists the address may be added.',
};

function AddSuppression({
  project,
  onClose,
  onChange,
}: {
  project: string;
  onClose(): void;
  onChange(): void;
}) {
  const add = async (entered: Entered): Promise<void> => {
    const email = entered.text('email');
    const { is_duplicate } = await callTelling('POST /projects/{project}/email-suppressions', {
      path: { project },
      body: { email },
    });
    toast(is_duplicate ? `${email} is suppressed already` : `${email} gets no more marketing mail`);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Suppress an address" onClose={onClose}>
      <p class="muted">
        It gets no marketing mail of this project from now on, its sequences end, and it cannot be added to a
        list. Transactional mail goes on.
      </p>
      <Form submit="Suppress" onSubmit={add} onCancel={onClose}>
        <TextField name="email" label="Email" type="email" is_focused />
      </Form>
    </Dialog>
  );
}

/** Looks one address up: asked for as a whole, as only whole addresses have a hash to find. */
function LookUp() {
  const now = useQuery().get('email') ?? '';
  const [typed, setTyped] = useState(now);
  useEffect(() => setTyped(now), [now]);
  return (
    <search aria-label="Filters">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ email: addressIn(typed) });
        }}
      >
        <input
          class="input"
          type="text"
          inputMode="email"
          aria-label="Whole address"
          placeholder="ann@example.org"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          Look up
        </button>
        {now !== '' && (
          <button type="button" class="button quiet" onClick={() => setQuery({ email: '' })}>
            Show all
          </button>
        )}
      </form>
    </search>
  );
}
