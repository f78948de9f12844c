/** One AI account: its key, what it is, the projects it serves, and its end. */
import { useState } from 'preact/hooks';
import type { AiAccount } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { CheckField } from '../../components/check-field.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { MaskedSecret } from '../../components/masked-secret.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { person } from '../../session.ts';
import { type List, useList } from '../../use-list.ts';
import { useLoad } from '../../use-load.ts';
import { useRevealed } from '../../use-revealed.ts';
import { takeAway } from './ai-assignments.ts';
import { AiFields, providerOf, tellProvider } from './ai-fields.tsx';

type Served = { id: number; name: string; slug: string; status: string };

export default function AiAccountPage({ params }: PageProps<'project' | 'account'>) {
  const path = { account: params.account };
  const load = useLoad('GET /ai-accounts/{account}', { path });
  const served = useList('GET /ai-accounts/{account}/projects', { path });
  const account = load.data;
  return (
    <>
      <PageHeader
        title={account?.name ?? 'AI account'}
        back={{ href: hrefOf(to`/projects/${params.project}/accounts`), label: 'AI accounts' }}
        beside={account && <Status of={account.is_active ? 'active' : 'inactive'} />}
        lead={account && tellProvider(account.provider)}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <Key of={of} />
            <ServedProjects of={of} list={served} />
            {may('can_write_vault') && (
              <>
                <Settings of={of} etag={load.etag} onChange={load.reload} />
                <End of={of} project={params.project} served={served.data?.meta?.total ?? 0} />
              </>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

function Key({ of }: { of: AiAccount }) {
  const { shown, left_s, show, hide } = useRevealed<string>();
  const reveal = async (): Promise<void> => {
    const { api_key } = await call('POST /ai-accounts/{account}/reveal', { path: { account: of.id } });
    if (api_key === null) toast('There is no key any more', 'bad');
    else show(api_key);
  };
  return (
    <Panel title="Key" lead="Showing it is recorded in the audit trail, with your name.">
      {of.key_prefix === null ? (
        <p class="muted">It has none.</p>
      ) : (
        <MaskedSecret label="Key" shown={shown} left_s={left_s} hide={hide} reveal={reveal} />
      )}
    </Panel>
  );
}

function Settings({ of, etag, onChange }: { of: AiAccount; etag: string | null; onChange(): void }) {
  const [saves, setSaves] = useState(0);
  const change = async (entered: Entered): Promise<void> => {
    const api_key = entered.exact('api_key').trim();
    await call('PATCH /ai-accounts/{account}', {
      path: { account: of.id },
      if_match: entered.version,
      body: {
        name: entered.text('name'),
        provider: providerOf(entered.text('provider')),
        base_url: entered.textOrNull('base_url'),
        organization_id: entered.textOrNull('organization_id'),
        is_active: entered.flag('is_active'),
        ...(person.value?.all_projects && { all_projects: entered.flag('all_projects') }),
        ...(api_key ? { api_key } : entered.flag('remove_key') && { api_key: null }),
      },
    });
    toast('The changes are saved');
    setSaves(saves + 1);
    onChange();
  };
  return (
    <Panel title="About the account">
      {/* A key that is stored does not stay in its field. */}
      <Form key={saves} submit="Save the changes" version={etag} onSubmit={change}>
        <AiFields of={of} />
        {of.key_prefix !== null && (
          <CheckField name="remove_key" label="Remove the key" hint="Where the provider works without one." />
        )}
        <CheckField name="is_active" label="In use" is_checked={of.is_active} />
      </Form>
    </Panel>
  );
}

function ServedProjects({ of, list }: { of: AiAccount; list: List<Served> }) {
  const may_change = may('can_write_vault') && !of.all_projects;
  const assignAll = async (): Promise<void> => {
    await call('PUT /ai-accounts/{account}/projects', {
      path: { account: of.id },
      body: { all_existing: true },
    });
    list.reload();
  };
  return (
    <section>
      <div class="row section-title">
        <h2>{of.all_projects ? 'It serves every project' : 'Projects it serves'}</h2>
        {may_change && (
          <ActionButton is_small done="It serves the projects there are now" act={assignAll}>
            Assign to all there are now
          </ActionButton>
        )}
      </div>
      <DataTable
        label="Projects it serves"
        list={list}
        keyOf={(project) => project.id}
        href={(project) => hrefOf(to`/projects/${project.slug}/accounts`)}
        empty={
          <Empty title="It serves no project">
            <p>Assign it under Provider accounts of a project.</p>
          </Empty>
        }
        columns={[
          { title: 'Project', cell: (project) => project.name },
          { title: 'Slug', cell: (project) => <code>{project.slug}</code> },
          { title: 'Status', cell: (project) => <Status of={project.status} /> },
          {
            title: 'Take away',
            is_number: true,
            cell: (project) =>
              may_change ? (
                <ActionButton
                  is_small
                  label={`Take away from ${project.name}`}
                  act={async () => {
                    await takeAway(of.id, String(project.id));
                    list.reload();
                  }}
                >
                  Take away
                </ActionButton>
              ) : null,
          },
        ]}
      />
    </section>
  );
}

function End({ of, project, served }: { of: AiAccount; project: string; served: number }) {
  const remove = async (): Promise<void> => {
    await call('DELETE /ai-accounts/{account}', { path: { account: of.id } });
    toast(`${of.name} is deleted`);
    navigate(to`/projects/${project}/accounts`, { replace: true });
  };
  return (
    <Panel title="Delete the account" tone="danger" lead="At the provider it stays what it is.">
      <ConfirmByName title="Delete the account" name={of.name} act={remove}>
        <p>
          Its key goes, and {counted(served, 'project')} {served === 1 ? 'is' : 'are'} served by it no more.
          It cannot be brought back, but from a backup.
        </p>
      </ConfirmByName>
    </Panel>
  );
}
