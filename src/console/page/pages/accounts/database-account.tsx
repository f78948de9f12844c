/** One account at a database provider: its access token, what it is, and its end. */
import type { DatabaseAccount } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Fields, mapped, optional, text } from '../../components/fields.tsx';
import { Loaded, PageHeader } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { End, Secrets, Settings, token } from './parts.tsx';

const dayOf = (moment: string | null): string | null => moment?.slice(0, 10) ?? null;

/** Of one that is there, or of a new one. */
export const accountFields = (of?: DatabaseAccount) => ({
  name: text('Name'),
  provider: optional('Provider', { placeholder: 'supabase' }),
  organization_slug: optional('Organization'),
  access_token: token('Access token', { placeholder: of ? 'stored; left empty, it stays' : '' }),
  expires_at: mapped<string | null, string | null>(
    optional('The token expires on', {
      type: 'date',
      hint: 'The day begins at midnight UTC. Empty: it does not.',
    }),
    dayOf,
    (day) => day && `${day}T00:00:00Z`,
  ),
});

export default function DatabaseAccountPage({ params }: PageProps<'project' | 'account'>) {
  const path = { account: params.account };
  const load = useLoad('GET /database-accounts/{account}', { path });
  const list = `${to`/projects/${params.project}/accounts`}?tab=accounts`;
  return (
    <>
      <PageHeader
        title={load.data?.name ?? 'Database account'}
        back={{ href: hrefOf(list), label: 'Database accounts' }}
        lead={load.data?.provider}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <Secrets
              of={[['access_token', 'Access token']]}
              needs="can_read_database_tokens"
              reveal={async () =>
                (await call('POST /database-accounts/{account}/reveal', { path })).access_token
              }
            />
            <Settings
              title="About the account"
              etag={load.etag}
              onChange={load.reload}
              change={(entered) => {
                const { access_token, expires_at, ...rest } = entered.read(accountFields(of));
                return call('PATCH /database-accounts/{account}', {
                  path,
                  if_match: entered.version,
                  body: {
                    ...rest,
                    // The hour that it has stays, where the day does.
                    ...(dayOf(expires_at) !== dayOf(of.expires_at) && { expires_at }),
                    ...(access_token && { access_token }),
                  },
                });
              }}
            >
              <Fields fields={accountFields(of)} of={of} />
            </Settings>
            <End
              title="Delete the account"
              lead="Only once no database is of it. At the provider it stays what it is."
              name={of.name}
              remove={() => call('DELETE /database-accounts/{account}', { path })}
              list={list}
            >
              Its access token goes, and cannot be brought back but from a backup.
            </End>
          </div>
        )}
      </Loaded>
    </>
  );
}
