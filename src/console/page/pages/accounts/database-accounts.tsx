/** Accounts at database providers. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList } from '../../use-list.ts';
import { DatabaseAccountFields, momentOf } from './database-account-fields.tsx';

export function DatabaseAccounts({ project }: { project: string }) {
  const list = useList('GET /database-accounts', {});
  const [is_adding, setAdding] = useState(false);
  return (
    <div class="stack">
      {person.value?.all_projects && (
        <div class="row">
          <button type="button" class="button primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            Add an account
          </button>
        </div>
      )}
      <DataTable
        label="Database accounts"
        list={list}
        keyOf={(account) => account.id}
        href={(account) => hrefOf(to`/projects/${project}/accounts/database-accounts/${account.id}`)}
        columns={[
          { title: 'Name', cell: (account) => account.name },
          { title: 'Provider', cell: (account) => account.provider ?? <span class="muted">—</span> },
          { title: 'Token begins with', cell: (account) => <code>{account.token_prefix}…</code> },
          { title: 'Token expires', cell: (account) => <Time at={account.expires_at} /> },
        ]}
        empty={
          <Empty title="No database account">
            <p>
              {person.value?.all_projects
                ? 'Add the account at the provider that your databases are of, with an access token.'
                : 'They are for those who have all projects.'}
            </p>
          </Empty>
        }
      />
      {is_adding && <AddAccount project={project} onClose={() => setAdding(false)} />}
    </div>
  );
}

function AddAccount({ project, onClose }: { project: string; onClose(): void }) {
  const add = async (entered: Entered): Promise<void> => {
    const provider = entered.text('provider');
    const organization_slug = entered.text('organization_slug');
    const expires_at = momentOf(entered.text('expires_at'));
    const account = await call('POST /database-accounts', {
      body: {
        ...{ name: entered.text('name'), access_token: entered.exact('access_token').trim() },
        ...(provider && { provider }),
        ...(organization_slug && { organization_slug }),
        ...(expires_at && { expires_at }),
      },
    });
    toast(`${account.name} is added`);
    navigate(to`/projects/${project}/accounts/database-accounts/${account.id}`);
  };
  return (
    <Dialog title="Add a database account" onClose={onClose}>
      <Form submit="Add the account" onSubmit={add} onCancel={onClose}>
        <DatabaseAccountFields />
      </Form>
    </Dialog>
  );
}
