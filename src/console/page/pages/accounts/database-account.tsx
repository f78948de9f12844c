/** One account at a database provider: its access token, what it is, and its end. */
import { call } from '../../api.ts';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { DatabaseAccountFields, momentOf } from './database-account-fields.tsx';
import { End, Secrets, Settings } from './parts.tsx';

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
                const access_token = entered.exact('access_token').trim();
                const day = entered.text('expires_at');
                return call('PATCH /database-accounts/{account}', {
                  path,
                  if_match: entered.version,
                  body: {
                    name: entered.text('name'),
                    provider: entered.textOrNull('provider'),
                    organization_slug: entered.textOrNull('organization_slug'),
                    // The hour that it has stays, where the day does.
                    ...(day !== (of.expires_at?.slice(0, 10) ?? '') && { expires_at: momentOf(day) }),
                    ...(access_token && { access_token }),
                  },
                });
              }}
            >
              <DatabaseAccountFields of={of} />
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
