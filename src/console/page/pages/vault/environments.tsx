/** The environments of a vault: which one is shown, adding and removing them, what they inherit, and how two differ. */
import { useState } from 'preact/hooks';
import type { VaultDiff, VaultEnvironment } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { Table } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { CheckField, SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded, Panel } from '../../components/page.tsx';
import { Choice } from '../../components/tabs.tsx';
import { TextField } from '../../components/text-field.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { setQuery, useQuery } from '../../router.ts';
import { type Load, useLoad } from '../../use-load.ts';

const PRODUCTION = 'production';

/** Which environment a page of the vault shows, as a part of its address and of its requests. */
export type InEnvironment = { environment?: string };

export function useEnvironment(): InEnvironment {
  const environment = useQuery().get('environment');
  return environment === null || environment === PRODUCTION ? {} : { environment };
}

/** The address of a page of the vault, in the same environment. */
export function keeping(path: string, { environment }: InEnvironment): string {
  return environment === undefined ? path : `${path}?environment=${encodeURIComponent(environment)}`;
}

export type Environments = Load<VaultEnvironment[]>;

export function useEnvironments(project: string): Environments {
  return useLoad(
    'GET /projects/{project}/environments',
    may('can_read_vault') ? { path: { project } } : null,
  );
}

/** Which environment is shown; nothing where there is production alone. */
export function EnvironmentSwitch({ all, now }: { all: Environments; now: InEnvironment }) {
  const names = all.data?.map(({ name }) => name) ?? [];
  if (names.length < 2) return null;
  return (
    <Choice
      label="Environment"
      choices={names.map((name) => [name, name] as const)}
      now={now.environment ?? PRODUCTION}
      onChoose={(name) => setQuery({ environment: name === PRODUCTION ? '' : name })}
    />
  );
}

export function EnvironmentsTab({ project, all }: { project: string; all: Environments }) {
  const [is_adding, setAdding] = useState(false);
  const add = may('can_write_vault') && (
    <button type="button" class="button small" onClick={() => setAdding(true)}>
      <Icon name="plus" />
      Add an environment
    </button>
  );
  return (
    <div class="stack">
      <Panel
        title="Environments"
        lead="Each has values of its own, under the same names. Captcha is verified with those of production."
        actions={add}
        flush
      >
        <Loaded load={all}>
          {(rows) => (
            <Table
              label="Environments"
              rows={rows}
              keyOf={({ name }) => name}
              columns={[
                { title: 'Name', cell: ({ name }) => <code>{name}</code> },
                {
                  title: 'What it lacks',
                  cell: ({ name, inherits }) =>
                    name === PRODUCTION ? '—' : inherits ? 'is production’s' : 'is not there',
                },
                { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} none="never" /> },
                {
                  title: 'Change',
                  is_number: true,
                  cell: (row) =>
                    may('can_write_vault') && row.name !== PRODUCTION ? (
                      <Acts project={project} of={row} onChange={all.reload} />
                    ) : null,
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {may('can_reveal_vault') && (all.data?.length ?? 0) > 1 && (
        <Compare project={project} names={all.data?.map(({ name }) => name) ?? []} />
      )}
      {is_adding && <Add project={project} onChange={all.reload} onClose={() => setAdding(false)} />}
    </div>
  );
}

function Acts({ project, of, onChange }: { project: string; of: VaultEnvironment; onChange(): void }) {
  const { name, inherits } = of;
  const path = { project, environment: name };
  const change = async (): Promise<void> => {
    const body = { inherits: !inherits };
    await call('PATCH /projects/{project}/environments/{environment}', { path, body, if_match: null });
    onChange();
  };
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/environments/{environment}', { path });
    toast(`${name} is removed`);
    onChange();
  };
  const [title, label] = inherits
    ? ['Inherit nothing', `Have ${name} inherit nothing`]
    : ['Inherit', `Have ${name} inherit from production`];
  return (
    <div class="value-actions">
      <ActionButton is_small label={label} act={change}>
        {title}
      </ActionButton>
      <ConfirmByName is_small title={`Remove ${name}`} button="Remove" name={name} act={remove}>
        <p>Its values go with it, and what they were before. Apps have them until they are started anew.</p>
      </ConfirmByName>
    </div>
  );
}

function Add(props: { project: string; onChange(): void; onClose(): void }) {
  const { project, onChange, onClose } = props;
  const add = async (entered: Entered): Promise<void> => {
    const body = { name: entered.text('name'), inherits: entered.flag('inherits') };
    await call('POST /projects/{project}/environments', { path: { project }, body });
    toast(`${body.name} is added`);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Add an environment" onClose={onClose}>
      <Form submit="Add" onSubmit={add} onCancel={onClose}>
        <TextField
          name="name"
          label="Name"
          placeholder="staging"
          hint="Lower-case letters, digits and hyphens."
          is_focused
          is_mono
        />
        <CheckField
          name="inherits"
          label="What it lacks is production’s"
          hint="Field by field, secrets too. Otherwise it has only what is stored in it."
        />
      </Form>
    </Dialog>
  );
}

const GROUPS = [
  ['only_in_from', (from: string, _to: string) => `Only in ${from}`],
  ['only_in_to', (_from: string, to: string) => `Only in ${to}`],
  ['differ', () => 'With other values'],
] as const satisfies readonly [keyof VaultDiff, (from: string, to: string) => string][];

function Compare({ project, names }: { project: string; names: readonly string[] }) {
  const [shown, setShown] = useState<{ from: string; to: string; diff: VaultDiff } | null>(null);
  const compare = async (entered: Entered): Promise<void> => {
    const [from, to] = [entered.text('from'), entered.text('to')];
    const query = { from, to };
    setShown({
      ...query,
      diff: await call('GET /projects/{project}/vault/diff', { path: { project }, query }),
    });
  };
  const choices = names.map((name) => [name, name] as const);
  const groups = GROUPS.flatMap(([group, title]) =>
    shown && shown.diff[group].length > 0
      ? [{ title: title(shown.from, shown.to), fields: shown.diff[group] }]
      : [],
  );
  return (
    <Panel title="Compare two" lead="Which fields differ, inherited ones too; no value is shown.">
      <div class="stack">
        <Form is_fleeting is_for_readers submit="Compare" onSubmit={compare}>
          <SelectField name="from" label="Of" choices={choices} value={names[0] ?? ''} />
          <SelectField name="to" label="And of" choices={choices} value={names[1] ?? ''} />
        </Form>
        {shown && groups.length === 0 && (
          <p role="status">
            {shown.from} and {shown.to} have the same values.
          </p>
        )}
        {groups.map(({ title, fields }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul class="names">
              {fields.map(({ service, field }) => (
                <li key={`${service}.${field}`}>
                  <code>{`${service}.${field}`}</code>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  );
}
