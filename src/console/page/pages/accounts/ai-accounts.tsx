/** The AI accounts that serve a project: added, assigned and taken away. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useAll } from '../../use-all.ts';
import { useList } from '../../use-list.ts';
import { assign, takeAway } from './ai-assignments.ts';
import { AiFields, providerOf, tellProvider } from './ai-fields.tsx';
import { Add } from './parts.tsx';

export function AiAccounts({ project }: { project: string }) {
  const list = useList('GET /projects/{project}/ai-accounts', { path: { project } });
  const [is_assigning, setAssigning] = useState(false);
  const pageOf = (id: number) => to`/projects/${project}/accounts/ai/${id}`;
  const acts = may('can_write_vault') && (
    <div class="row">
      <Add noun="account" title="Add an AI account" add={(entered) => add(entered, project)} pageOf={pageOf}>
        <AiFields />
      </Add>
      <button type="button" class="button" onClick={() => setAssigning(true)}>
        Assign one that there is
      </button>
    </div>
  );
  return (
    <div class="stack">
      {acts}
      <DataTable
        label="AI accounts"
        list={list}
        keyOf={(account) => account.id}
        href={(account) => hrefOf(pageOf(account.id))}
        columns={[
          { title: 'Name', cell: (account) => account.name },
          { title: 'Provider', cell: (account) => tellProvider(account.provider) },
          {
            title: 'Key begins with',
            cell: ({ key_prefix }) =>
              key_prefix === null ? <span class="muted">no key</span> : <code>{key_prefix}…</code>,
          },
          { title: 'Status', cell: (account) => <Status of={account.is_active ? 'active' : 'inactive'} /> },
          {
            title: 'Serves',
            cell: (account) => (account.all_projects ? 'every project' : 'this project'),
          },
          {
            title: 'Take away',
            is_number: true,
            cell: (account) =>
              may('can_write_vault') && !account.all_projects ? (
                <ActionButton
                  is_small
                  label={`Take away ${account.name}`}
                  done={`${account.name} does not serve this project any more`}
                  act={async () => {
                    await takeAway(account.id, project);
                    list.reload();
                  }}
                >
                  Take away
                </ActionButton>
              ) : null,
          },
        ]}
        empty={
          <Empty drawing="key" title="No AI account serves this project">
            <p>Add one with its key, or assign one that another project has already.</p>
          </Empty>
        }
      />
      {is_assigning && (
        <AssignAccount project={project} onClose={() => setAssigning(false)} onChange={list.reload} />
      )}
    </div>
  );
}

async function add(entered: Entered, project: string) {
  const api_key = entered.exact('api_key').trim();
  const base_url = entered.text('base_url');
  const organization_id = entered.text('organization_id');
  const all_projects = entered.flag('all_projects');
  const account = await call('POST /ai-accounts', {
    body: {
      name: entered.text('name'),
      provider: providerOf(entered.text('provider')),
      all_projects,
      ...(api_key && { api_key }),
      ...(base_url && { base_url }),
      ...(organization_id && { organization_id }),
    },
  });
  // What somebody of certain projects adds is assigned to those; of all projects, it is to nobody yet.
  if (person.value?.all_projects && !all_projects) {
    await assign(account.id, project).catch(() =>
      toast(`${account.name} is added, but could not be assigned to this project`, 'bad'),
    );
  }
  return account;
}

function AssignAccount(props: { project: string; onClose(): void; onChange(): void }) {
  const { project, onClose, onChange } = props;
  const all = useAll('GET /ai-accounts', {});
  const serving = useAll('GET /projects/{project}/ai-accounts', { path: { project } });
  const ids = new Set(serving.data?.map(({ id }) => id));
  const choices = (all.data ?? []).filter((each) => !ids.has(each.id) && !each.all_projects);
  const give = async (entered: Entered): Promise<void> => {
    await assign(Number(entered.text('account')), project);
    toast('The account serves this project');
    onChange();
    onClose();
  };
  return (
    <Dialog title="Assign an AI account" onClose={onClose}>
      <Loaded load={all}>
        {() => (
          <Loaded load={serving}>
            {() =>
              choices.length === 0 ? (
                <p>Every account that you may see serves this project already.</p>
              ) : (
                <Form is_fleeting submit="Assign" onSubmit={give} onCancel={onClose}>
                  <SelectField
                    name="account"
                    label="Account"
                    choices={choices.map((each) => [
                      String(each.id),
                      `${each.name} (${tellProvider(each.provider)})`,
                    ])}
                  />
                </Form>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Dialog>
  );
}
