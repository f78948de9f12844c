/** One database: its secrets, where it is, and its end. */
import { useState } from 'preact/hooks';
import type { DatabaseProject } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { MaskedSecret } from '../../components/masked-secret.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useAll } from '../../use-all.ts';
import { useLoad } from '../../use-load.ts';
import { useRevealed } from '../../use-revealed.ts';
import { DatabaseFields, POOL_MODES, SECRETS, type SecretName } from './database-fields.tsx';

export default function DatabasePage({ params }: PageProps<'project' | 'database'>) {
  const path = { database: params.database };
  const load = useLoad('GET /database-projects/{database}', { path });
  const accounts = useAll('GET /database-accounts', {});
  const [saves, setSaves] = useState(0);
  const list = `${to`/projects/${params.project}/accounts`}?tab=databases`;
  const remove = async (): Promise<void> => {
    await call('DELETE /database-projects/{database}', { path });
    toast(`${load.data?.name ?? 'The database'} is deleted`);
    navigate(list, { replace: true });
  };
  return (
    <>
      <PageHeader
        title={load.data?.name ?? 'Database'}
        back={{ href: hrefOf(list), label: 'Databases' }}
        lead={load.data && <code>{load.data.ref}</code>}
      />
      <Loaded load={load}>
        {(of) => (
          <Loaded load={accounts}>
            {(all) => (
              <div class="stack">
                <Secrets of={of} />
                <Panel title="About the database">
                  <Form
                    // Secrets that are stored do not stay in their fields.
                    key={saves}
                    submit="Save the changes"
                    version={load.etag}
                    onSubmit={async (entered) => {
                      await change(of, entered);
                      setSaves(saves + 1);
                      load.reload();
                    }}
                  >
                    <DatabaseFields of={of} accounts={all} />
                  </Form>
                </Panel>
                <Panel
                  title="Delete the database here"
                  tone="danger"
                  lead="At the provider it stays what it is, with all its data."
                >
                  <ConfirmByName title="Delete the database" name={of.ref} act={remove}>
                    <p>
                      Its secrets go, and its links to projects. It cannot be brought back, but from a backup.
                    </p>
                  </ConfirmByName>
                </Panel>
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

async function change(of: DatabaseProject, entered: Entered): Promise<void> {
  const given = SECRETS.flatMap(([name]) => {
    const value = entered.exact(name).replace(/\n$/, '');
    return value ? [[name, value] as const] : [];
  });
  await call('PATCH /database-projects/{database}', {
    path: { database: of.id },
    if_match: entered.version,
    body: {
      ...{ name: entered.text('name'), ref: entered.text('ref') },
      account_id: entered.numberOrNull('account_id'),
      ...{ region: entered.textOrNull('region'), status: entered.textOrNull('status') },
      ...{ api_url: entered.textOrNull('api_url'), publishable_key: entered.textOrNull('publishable_key') },
      ...{ db_host: entered.textOrNull('db_host'), db_port: entered.numberOrNull('db_port') },
      ...{ db_name: entered.textOrNull('db_name'), db_user: entered.textOrNull('db_user') },
      pool_mode: POOL_MODES.find((mode) => mode === entered.text('pool_mode')) ?? null,
      ...Object.fromEntries(given),
    },
  });
  toast('The changes are saved');
}

function Secrets({ of }: { of: DatabaseProject }) {
  const { shown, left_s, show, hide } = useRevealed<{ name: SecretName; value: string }>();
  const reveal = async (name: SecretName, label: string): Promise<void> => {
    const path = { database: of.id };
    const { undecryptable, ...secrets } = await call('POST /database-projects/{database}/reveal', { path });
    const value = secrets[name];
    if (value !== null) show({ name, value });
    else if (undecryptable.includes(name)) toast(`${label} does not decrypt. Store it again.`, 'bad');
    else toast(`${label} is not stored`, 'bad');
  };
  return (
    <Panel
      title="Secrets"
      lead={
        may('can_read_database_tokens')
          ? 'Shown one at a time, for a while. Each time is recorded in the audit trail, with your name.'
          : 'Showing them takes the capability can_read_database_tokens.'
      }
      flush
    >
      <ul class="values">
        {SECRETS.map(([name, label]) => (
          <li key={name}>
            <span class="strong">{label}</span>
            <MaskedSecret
              label={label}
              shown={shown?.name === name ? shown.value : null}
              left_s={left_s}
              hide={hide}
              {...(may('can_read_database_tokens') && { reveal: () => reveal(name, label) })}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
