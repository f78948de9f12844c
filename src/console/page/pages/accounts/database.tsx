/** One database: its secrets, where it is, and its end. */
import { call } from '../../api.ts';
import type { Entered } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useAll } from '../../use-all.ts';
import { useLoad } from '../../use-load.ts';
import { DatabaseFields, POOL_MODES, SECRETS, type SecretName } from './database-fields.tsx';
import { End, Secrets, Settings } from './parts.tsx';

export default function DatabasePage({ params }: PageProps<'project' | 'database'>) {
  const path = { database: params.database };
  const load = useLoad('GET /database-projects/{database}', { path });
  const accounts = useAll('GET /database-accounts', {});
  const list = `${to`/projects/${params.project}/accounts`}?tab=databases`;
  const reveal = async (name: SecretName, label: string): Promise<string | null> => {
    const { undecryptable, ...secrets } = await call('POST /database-projects/{database}/reveal', { path });
    if (undecryptable.includes(name)) throw new Error(`${label} does not decrypt. Store it again.`);
    return secrets[name];
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
                <Secrets of={SECRETS} needs="can_read_database_tokens" reveal={reveal} />
                <Settings
                  title="About the database"
                  etag={load.etag}
                  change={(entered) => change(path, entered)}
                  onChange={load.reload}
                >
                  <DatabaseFields of={of} accounts={all} />
                </Settings>
                <End
                  title="Delete the database"
                  lead="At the provider it stays what it is, with all its data."
                  name={of.ref}
                  remove={() => call('DELETE /database-projects/{database}', { path })}
                  list={list}
                >
                  Its secrets go, and its links to projects. It cannot be brought back, but from a backup.
                </End>
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function change(path: { database: string }, entered: Entered) {
  const given = SECRETS.flatMap(([name]) => {
    const value = entered.exact(name).replace(/\n$/, '');
    return value ? [[name, value] as const] : [];
  });
  return call('PATCH /database-projects/{database}', {
    path,
    if_match: entered.version,
    body: {
      name: entered.text('name'),
      ref: entered.text('ref'),
      account_id: entered.numberOrNull('account_id'),
      region: entered.textOrNull('region'),
      status: entered.textOrNull('status'),
      api_url: entered.textOrNull('api_url'),
      publishable_key: entered.textOrNull('publishable_key'),
      db_host: entered.textOrNull('db_host'),
      db_port: entered.numberOrNull('db_port'),
      db_name: entered.textOrNull('db_name'),
      db_user: entered.textOrNull('db_user'),
      pool_mode: POOL_MODES.find((mode) => mode === entered.text('pool_mode')) ?? null,
      ...Object.fromEntries(given),
    },
  });
}
