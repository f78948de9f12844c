/** One account at a database provider: its access token, what it is, and its end. */
import { useState } from 'preact/hooks';
import type { DatabaseAccount } from '../../api.generated.ts';
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
import { useLoad } from '../../use-load.ts';
import { useRevealed } from '../../use-revealed.ts';
import { DatabaseAccountFields, momentOf } from './database-account-fields.tsx';

export default function DatabaseAccountPage({ params }: PageProps<'project' | 'account'>) {
  const path = { account: params.account };
  const load = useLoad('GET /database-accounts/{account}', { path });
  const list = `${to`/projects/${params.project}/accounts`}?tab=accounts`;
  const remove = async (): Promise<void> => {
    await call('DELETE /database-accounts/{account}', { path });
    toast(`${load.data?.name ?? 'The account'} is deleted`);
    navigate(list, { replace: true });
  };
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
            <Token of={of} />
            <Settings of={of} etag={load.etag} onChange={load.reload} />
            <Panel
              title="Delete the account"
              tone="danger"
              lead="Only once no database is of it. At the provider it stays what it is."
            >
              <ConfirmByName title="Delete the account" name={of.name} act={remove}>
                <p>Its access token goes, and cannot be brought back but from a backup.</p>
              </ConfirmByName>
            </Panel>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Token({ of }: { of: DatabaseAccount }) {
  const { shown, left_s, show, hide } = useRevealed<string>();
  const reveal = async (): Promise<void> => {
    const path = { account: of.id };
    const { access_token } = await call('POST /database-accounts/{account}/reveal', { path });
    show(access_token);
  };
  const may_reveal = may('can_read_database_tokens');
  return (
    <Panel
      title="Access token"
      lead={
        may_reveal
          ? 'Showing it is recorded in the audit trail, with your name.'
          : 'Showing it takes the capability can_read_database_tokens.'
      }
    >
      <MaskedSecret
        label="Access token"
        shown={shown}
        left_s={left_s}
        hide={hide}
        {...(may_reveal && { reveal })}
      />
    </Panel>
  );
}

function Settings(props: { of: DatabaseAccount; etag: string | null; onChange(): void }) {
  const { of, etag, onChange } = props;
  const [saves, setSaves] = useState(0);
  const change = async (entered: Entered): Promise<void> => {
    const access_token = entered.exact('access_token').trim();
    const day = entered.text('expires_at');
    await call('PATCH /database-accounts/{account}', {
      path: { account: of.id },
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
    toast('The changes are saved');
    setSaves(saves + 1);
    onChange();
  };
  return (
    <Panel title="About the account">
      {/* A token that is stored does not stay in its field. */}
      <Form key={saves} submit="Save the changes" version={etag} onSubmit={change}>
        <DatabaseAccountFields of={of} />
      </Form>
    </Panel>
  );
}
