/** The access tokens of tools, each of which can be revoked. */
import type { Token } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf } from '../../router.ts';
import { serverNow } from '../../time.ts';
import { useList } from '../../use-load.ts';
import { RoleOf } from '../people/list.tsx';

function stateOf({ revoked_at, expires_at }: Token): 'revoked' | 'expired' | 'active' {
  if (revoked_at) return 'revoked';
  return expires_at && Date.parse(expires_at) <= serverNow() ? 'expired' : 'active';
}

export default function TokensPage() {
  const list = useList('GET /tokens', {});
  const create = (
    <ButtonLink kind="primary" href={hrefOf('/tokens/new')}>
      <Icon name="plus" />
      New token
    </ButtonLink>
  );
  const revoke = async (token: Token): Promise<void> => {
    await call('DELETE /tokens/{token}', { path: { token: token.id } });
    toast(`${token.name} is revoked`);
    list.reload();
  };
  return (
    <>
      <PageHeader
        title="Tokens"
        lead="What a tool shows to the management plane, as a person signs in here. Apps that store files and send mail take a key of their project instead."
        actions={create}
      />
      <DataTable
        label="Tokens"
        list={list}
        keyOf={(token) => token.id}
        columns={[
          { title: 'Name', cell: (token) => <span class="strong">{token.name}</span> },
          { title: 'Begins with', cell: (token) => <code>{token.token_prefix}…</code> },
          {
            title: 'Role',
            cell: (token) => (
              <>
                <RoleOf of={token} />
                {token.environments && (
                  <p class="muted fine">of vaults {token.environments.join(', ')} alone</p>
                )}
              </>
            ),
          },
          {
            title: 'Made by',
            cell: (token) => <span class="any-break">{token.created_by?.name ?? '—'}</span>,
          },
          { title: 'Expires', cell: (token) => <Time at={token.expires_at} /> },
          { title: 'Last used', cell: (token) => <Time at={token.last_used_at} none="never used" /> },
          { title: 'Status', cell: (token) => <Status of={stateOf(token)} /> },
          {
            title: 'Revoke',
            is_number: true,
            cell: (token) =>
              stateOf(token) === 'active' ? (
                <ConfirmByName
                  is_small
                  title={`Revoke ${token.name}`}
                  button="Revoke"
                  name={token.name}
                  act={() => revoke(token)}
                >
                  <p>
                    Tools that use it (it begins with <code>{token.token_prefix}</code>) are refused at once,
                    and for good. It stays in the list.
                  </p>
                </ConfirmByName>
              ) : null,
          },
        ]}
        empty={
          <Empty
            drawing="key"
            title="No token yet"
            command="satchel token create --name deploy --project shop --can read_vault"
          >
            <p>Make one for each tool that is to manage Satchel: a deployment that reads the vault, say.</p>
            {create}
          </Empty>
        }
      />
    </>
  );
}
