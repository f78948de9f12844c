/** Accounts at database providers. */
import { call } from '../../api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Fields } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Empty } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList } from '../../use-load.ts';
import { accountFields } from './database-account.tsx';
import { Add } from './parts.tsx';

export function DatabaseAccounts({ project }: { project: string }) {
  const list = useList('GET /database-accounts', {});
  const pageOf = (id: number) => to`/projects/${project}/accounts/database-accounts/${id}`;
  return (
    <div class="stack">
      {person.value?.all_projects && (
        <div class="row">
          <Add noun="account" title="Add a database account" add={add} pageOf={pageOf}>
            <Fields fields={accountFields()} is_focused />
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
  const { access_token = '', ...body } = entered.given(accountFields());
  return call('POST /database-accounts', { body: { ...body, access_token } });
}
