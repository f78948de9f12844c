/** The service `env`: variables of any name, plain or secret, added, changed and removed one by one. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Panel } from '../../components/page.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { useQuery } from '../../router.ts';
import { HistoryButton } from './history.tsx';
import { ImportEnv } from './import-env.tsx';
import type { ServicePartProps } from './service.tsx';
import { type Line, leadOf, ValueList } from './values.tsx';

export function Variables(part: ServicePartProps) {
  const { path, query, metadata, etag, onChange } = part;
  const is_adding = useQuery().has('add');
  const [editing, setEditing] = useState<Line | 'new' | null>(is_adding ? 'new' : null);
  const [is_importing, setImporting] = useState(false);
  const lines = Object.keys(metadata?.present ?? {})
    .toSorted()
    .map((name) => ({
      field: name,
      label: name,
      file: false,
      secret: !Object.hasOwn(metadata?.values ?? {}, name),
    }));
  const add = may('can_write_vault') && (
    <>
      {metadata && <HistoryButton {...part} label="all variables" />}
      <button type="button" class="button small" onClick={() => setImporting(true)}>
        Paste a .env file
      </button>
      <button type="button" class="button small" onClick={() => setEditing('new')}>
        <Icon name="plus" />
        Set a variable
      </button>
    </>
  );
  return (
    <Panel
      title="Variables"
      lead={`Whatever the app needs and no other service has a field for. ${leadOf(true)}`}
      actions={add}
      flush
    >
      {lines.length === 0 ? (
        <NoVariables project={path.project} is_hidden={metadata === null} />
      ) : (
        <ValueList
          {...part}
          lines={lines}
          actions={(line) => <LineActs {...part} name={line.field} onEdit={() => setEditing(line)} />}
        />
      )}
      {is_importing && (
        <ImportEnv
          project={path.project}
          query={query}
          onChange={onChange}
          onClose={() => setImporting(false)}
        />
      )}
      {editing && (
        <SetVariable
          path={path}
          query={query}
          etag={etag}
          line={editing === 'new' ? null : editing}
          now={editing === 'new' ? '' : (metadata?.values[editing.field] ?? '')}
          onChange={onChange}
          onClose={() => setEditing(null)}
        />
      )}
    </Panel>
  );
}

function LineActs(props: ServicePartProps & { name: string; onEdit(): void }) {
  const { path, query, metadata, onChange, name, onEdit } = props;
  const remove = async (): Promise<void> => {
    await askFirst({
      title: `Remove ${name}?`,
      submit: `Remove ${name}`,
      tone: 'bad',
      told: <p>Its history keeps the value for 180 days. Apps have it until they are started anew.</p>,
    });
    await call('PUT /projects/{project}/vault/{service}', {
      path,
      query,
      if_match: null,
      body: { values: { [name]: null } },
    });
    toast(`${name} is removed`);
    onChange();
  };
  return (
    <>
      <button type="button" class="button small" aria-label={`Change ${name}`} onClick={onEdit}>
        Change
      </button>
      {!metadata?.inherited.includes(name) && (
        <ActionButton is_small kind="bad" label={`Remove ${name}`} act={remove}>
          Remove
        </ActionButton>
      )}
    </>
  );
}

function NoVariables({ project, is_hidden }: { project: string; is_hidden: boolean }) {
  if (is_hidden) {
    return (
      <Empty title="You may not see which there are">
        <p>That takes the capability can_read_vault.</p>
      </Empty>
    );
  }
  return (
    <Empty
      title="No variable yet"
      command={`satchel vault set --project ${project} env SESSION_KEY=- < key.txt`}
    >
      <p>Set one here, or from the command line.</p>
    </Empty>
  );
}

function SetVariable(props: {
  path: ServicePartProps['path'];
  query: ServicePartProps['query'];
  etag: string | null;
  /** Null: a new one. */
  line: Line | null;
  now: string;
  onChange(): void;
  onClose(): void;
}) {
  const { path, query, etag, line, now, onChange, onClose } = props;
  const [is_plain, setPlain] = useState(line !== null && !line.secret);
  const set = async (entered: Entered): Promise<void> => {
    const name = line?.field ?? entered.text('name');
    const value = entered.exact('value').replace(/\n$/, '');
    await call('PUT /projects/{project}/vault/{service}', {
      path,
      query,
      if_match: entered.version,
      body: { values: { [name]: value }, plain: is_plain ? [name] : [] },
    }).catch((error: unknown) => {
      throw besideField(error);
    });
    toast(`${name} is stored`);
    onChange();
    onClose();
  };
  return (
    <Dialog title={line ? `Change ${line.field}` : 'Set a variable'} onClose={onClose}>
      <Form submit="Store" version={etag} onSubmit={set} onCancel={onClose}>
        {!line && (
          <TextField
            name="name"
            label="Name"
            placeholder="SESSION_KEY"
            hint="One that is stored already gets this value and kind."
            is_focused
            is_mono
          />
        )}
        <SecretField
          name="value"
          label="Value"
          rows={3}
          value={now}
          is_shown={is_plain}
          is_focused={line !== null}
          hint={line?.secret ? 'Takes the place of the one that is stored.' : ''}
        />
        <CheckField
          name="plain"
          label="No secret"
          hint="Shown here to everybody who may read the vault. With the prefix NEXT_PUBLIC_, VITE_ or EXPO_PUBLIC_ it stands in the pages of the app."
          is_checked={is_plain}
          onChange={setPlain}
        />
      </Form>
    </Dialog>
  );
}

/** The API names what is wrong by the variable's own name, which is what was typed into one of two fields. */
function besideField(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const errors: Record<string, readonly string[]> = {};
  for (const told of Object.values(error.errors)) {
    const field = told.some((each) => each.includes('name')) ? 'name' : 'value';
    errors[field] = [...(errors[field] ?? []), ...told];
  }
  return new ApiError(error.status, { ...error.details, message: error.message, errors }, error);
}
