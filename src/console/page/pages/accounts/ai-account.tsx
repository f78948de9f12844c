/** One AI account: its key, what it is, the projects it serves, and its end. */
import type { AiAccount } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { check, Fields } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { type List, useList, useLoad } from '../../use-load.ts';
import { aiFields, takeAway, tellProvider } from './ai-accounts.tsx';
import { End, Secrets, Settings } from './parts.tsx';

type Served = { id: number; name: string; slug: string; status: string };

export default function AiAccountPage({ params }: PageProps<'project' | 'account'>) {
  const path = { account: params.account };
  const load = useLoad('GET /ai-accounts/{account}', { path });
  const served = useList('GET /ai-accounts/{account}/projects', { path });
  const account = load.data;
  const list = to`/projects/${params.project}/accounts`;
  const serves = served.data?.meta?.total ?? 0;
  return (
    <>
      <PageHeader
        title={account?.name ?? 'AI account'}
        back={{ href: hrefOf(list), label: 'AI accounts' }}
        beside={account && <Status of={account.is_active ? 'active' : 'inactive'} />}
        lead={account && tellProvider(account.provider)}
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            {of.key_prefix !== null && (
              <Secrets
                of={[['api_key', 'Key']]}
                needs="can_read_ai_accounts"
                reveal={async () => (await call('POST /ai-accounts/{account}/reveal', { path })).api_key}
              />
            )}
            <ServedProjects of={of} list={served} />
            {may('can_write_vault') && (
              <>
                <Settings
                  title="About the account"
                  etag={load.etag}
                  change={(entered) => change(of, path, entered)}
                  onChange={load.reload}
                >
                  <Fields fields={fieldsOf(of)} of={of} />
                </Settings>
                <End
                  title="Delete the account"
                  lead="At the provider it stays what it is."
                  name={of.name}
                  remove={() => call('DELETE /ai-accounts/{account}', { path })}
                  list={list}
                >
                  Its key goes, and {counted(serves, 'project')} {serves === 1 ? 'is' : 'are'} served by it no
                  more. It cannot be brought back, but from a backup.
                </End>
              </>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

const fieldsOf = (of: AiAccount) => ({
  ...aiFields(of),
  ...(of.key_prefix !== null && {
    remove_key: check('Remove the key', { hint: 'Where the provider works without one.' }),
  }),
  is_active: check('In use'),
});

function change(of: AiAccount, path: { account: string }, entered: Entered) {
  const { api_key, remove_key, ...rest } = entered.read(fieldsOf(of));
  return call('PATCH /ai-accounts/{account}', {
    path,
    if_match: entered.version,
    body: { ...rest, ...((api_key !== null || remove_key) && { api_key }) },
  });
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
