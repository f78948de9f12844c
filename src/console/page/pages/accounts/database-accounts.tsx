/** Accounts at database providers. */
import { call } from '../../api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import type { Entered } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList } from '../../use-list.ts';
import { DatabaseAccountFields, momentOf } from './database-account-fields.tsx';
import { Add } from './parts.tsx';

export function DatabaseAccounts({ project }: { project: string }) {
  const list = useList('GET /database-accounts', {});
  const pageOf = (id: number) => to`/projects/${project}/accounts/database-accounts/${id}`;
  return (
    <div class="stack">
      {person.value?.all_projects && (
        <div class="row">
          <Add noun="account" title="Add a database account" add={add} pageOf={pageOf}>
            <DatabaseAccountFields />
          </Add>
        </div>
      )}
      <DataTable
        label="Database accounts"
        list={list}
        keyOf={(account) => account.id}
        href={(account) => hrefOf(pageOf(account.id))}
        columns={[
          { title: 'Name', cell: (account) => account.name },
          { title: 'Provider', cell: (account) => account.provider ?? <span class="muted">—</span> },
          { title: 'Token begins with', cell: (account) => <code>{account.token_prefix}…</code> },
          { title: 'Token expires', cell: (account) => <Time at={account.expires_at} /> },
        ]}
        empty={
          <Empty drawing="key" title="No database account">
            <p>
              {person.value?.all_projects
                ? 'Add the account at the provider that your databases are of, with an access token.'
                : 'They are for those who have all projects.'}
            </p>
          </Empty>
        }
      />
    </div>
  );
}

function add(entered: Entered) {
  const provider = entered.text('provider');
  const organization_slug = entered.text('organization_slug');
  const expires_at = momentOf(entered.text('expires_at'));
  return call('POST /database-accounts', {
    body: {
      name: entered.text('name'),
      access_token: entered.exact('access_token').trim(),
      ...(provider && { provider }),
      ...(organization_slug && { organization_slug }),
      ...(expires_at && { expires_at }),
    },
  });
}
