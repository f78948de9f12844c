/** Origins that every restricted key accepts. */

import { useState } from 'preact/hooks';
import type { GlobalOrigin } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { Table } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loaded, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Badge } from '../../components/status.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { useLoad } from '../../use-load.ts';
import { ORIGIN_TYPES, OriginFields, originIn, tellOfOrigin } from '../keys/origin-fields.tsx';

export function GlobalOrigins() {
  const load = useLoad('GET /global-origins', {});
  const [is_adding, setAdding] = useState(false);
  return (
    <>
      <Panel
        title="Global origins"
        lead="Web sites and apps that every restricted key of every project accepts, besides its own: the team’s, while it develops."
        actions={
          <button type="button" class="button small" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            Add an origin
          </button>
        }
        flush
      >
        <Loaded load={load}>{(origins) => <List origins={origins} onChange={load.reload} />}</Loaded>
      </Panel>
      {is_adding && <Add onClose={() => setAdding(false)} onChange={load.reload} />}
    </>
  );
}

function Add({ onClose, onChange }: { onClose(): void; onChange(): void }) {
  const add = async (entered: Entered): Promise<void> => {
    const note = entered.text('note');
    const { value } = await call('POST /global-origins', {
      body: { ...originIn(entered), ...(note !== '' && { note }) },
    });
    tellOfOrigin(value);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Add a global origin" onClose={onClose}>
      <Form submit="Add" onSubmit={add} onCancel={onClose}>
        <OriginFields
          address="http://localhost:*"
          hint="Every restricted key accepts it from the next request on."
          is_hint_of_all
        />
        <TextField name="note" label="Note" placeholder="development" hint="What it is for." />
      </Form>
    </Dialog>
  );
}

function List({ origins, onChange }: { origins: readonly GlobalOrigin[]; onChange(): void }) {
  if (origins.length === 0)
    return (
      <Empty title="No global origin" command="satchel origin add --type domain --value 'http://localhost:*'">
        <p>Each restricted key accepts its own origins only.</p>
      </Empty>
    );
  return (
    <Table
      label="Global origins"
      rows={origins}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Origin', cell: ({ value }) => <code>{value}</code> },
        {
          title: 'Kind',
          cell: ({ type }) => <Badge>{ORIGIN_TYPES.find(([each]) => each === type)?.[1] ?? type}</Badge>,
        },
        {
          title: 'Note',
          cell: ({ note }) => <span class="said">{note ?? <span class="muted">—</span>}</span>,
        },
        { title: 'Change', is_number: true, cell: (origin) => <Remove of={origin} onChange={onChange} /> },
      ]}
    />
  );
}

function Remove({ of, onChange }: { of: GlobalOrigin; onChange(): void }) {
  const remove = async (): Promise<void> => {
    const removed = await call('DELETE /global-origins/{origin}', { path: { origin: of.id } });
    const keys = counted(removed.restricted_keys, 'restricted key');
    toast(`${of.value} is removed. ${keys} may have relied on it`);
    onChange();
  };
  return (
    <ConfirmByName title="Remove" name={of.value} act={remove} is_small>
      <p>
        <code>{of.value}</code> is then accepted only by keys that have it among their own origins. Others
        refuse it from the next request on.
      </p>
    </ConfirmByName>
  );
}
