/** One database: its secrets, where it is, and its end. */
import type { DatabaseAccount } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { choiceOrNone, Fields, mapped, number, optional, secret, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useAll, useLoad } from '../../use-load.ts';
import { End, Secrets, Settings } from './parts.tsx';

const SECRETS = [
  ['secret_key', 'Secret key'],
  ['db_password', 'Password'],
  ['connection_string', 'Connection string'],
] as const;
type SecretName = (typeof SECRETS)[number][0];

const REFERENCE = { hint: 'What the provider calls it.', is_mono: true };
/** Those that a new one begins with. */
export const FIRST_FIELDS = {
  name: text('Name'),
  ref: text('Reference', { ...REFERENCE, placeholder: 'abcdefghijkl' }),
};

const fieldsOf = (accounts: readonly DatabaseAccount[]) => ({
  name: text('Name'),
  ref: text('Reference', REFERENCE),
  account_id: mapped<number | null, string | null>(
    choiceOrNone(
      'Account',
      'none',
      accounts.map(({ id, name }) => [String(id), name]),
    ),
    String,
    (id) => (id === null ? null : Number(id)),
  ),
  region: optional('Region', { placeholder: 'eu-central-1' }),
  status: optional('Status', { placeholder: 'active' }),
  api_url: optional('API URL', { placeholder: 'https://…' }),
  publishable_key: optional('Publishable key', { is_mono: true }),
  db_host: optional('Host', { is_mono: true }),
  db_port: number('Port'),
  db_name: optional('Database', { is_mono: true }),
  db_user: optional('User', { is_mono: true }),
  pool_mode: choiceOrNone('Pool mode', 'not said', [
    ['transaction', 'transaction'],
    ['session', 'session'],
  ]),
});

const STAYS = { placeholder: 'left empty, it stays as it is' };
const SECRET_FIELDS = {
  secret_key: secret('Secret key', STAYS),
  db_password: secret('Password', STAYS),
  connection_string: secret('Connection string', STAYS),
};

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
                  change={(entered) => change(path, entered, all)}
                  onChange={load.reload}
                >
                  <Fields fields={fieldsOf(all)} of={of} />
                  <Fields fields={SECRET_FIELDS} />
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

function change(path: { database: string }, entered: Entered, all: readonly DatabaseAccount[]) {
  return call('PATCH /database-projects/{database}', {
    path,
    if_match: entered.version,
    body: { ...entered.read(fieldsOf(all)), ...entered.given(SECRET_FIELDS) },
  });
}
