/** The AI accounts that serve a project: added, assigned and taken away. */
import { useState } from 'preact/hooks';
import type { AiAccount } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { check, choice, Fields, optional, SelectField, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Empty, Loaded } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { callAll, useAll, useList } from '../../use-load.ts';
import { Add, token } from './parts.tsx';

export function AiAccounts({ project }: { project: string }) {
  const list = useList('GET /projects/{project}/ai-accounts', { path: { project } });
  const [is_assigning, setAssigning] = useState(false);
  const pageOf = (id: number) => to`/projects/${project}/accounts/ai/${id}`;
  const acts = may('can_write_vault') && (
    <div class="row">
      <Add noun="account" title="Add an AI account" add={(entered) => add(entered, project)} pageOf={pageOf}>
        <Fields fields={aiFields()} is_focused />
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
  const body = entered.given(aiFields());
  const account = await call('POST /ai-accounts', { body });
  // An account of somebody with certain projects is assigned to those; of somebody with all projects, to none yet.
  if (person.value?.all_projects && !body.all_projects) {
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
                    choices={choices.map(({ id, name, provider }) => [
                      String(id),
                      `${name} (${tellProvider(provider)})`,
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

interface Named {
  id: number;
  public_id: string;
  slug: string;
}

/** Says whether an address names this project, by whichever of its names. */
function isNamed(project: Named, name: string): boolean {
  return [String(project.id), project.public_id, project.slug].includes(name);
}

/** Of an account without the standing rule. Throws ApiError. */
export async function assign(account: number, project: string): Promise<void> {
  const now = await callAll('GET /ai-accounts/{account}/projects', { path: { account } });
  const others = now.filter((each) => !isNamed(each, project)).map(({ id }) => id);
  await replace(account, [...others, project]);
}

/** As `assign`. */
export async function takeAway(account: number, project: string): Promise<void> {
  const now = await callAll('GET /ai-accounts/{account}/projects', { path: { account } });
  await replace(
    account,
    now.filter((each) => !isNamed(each, project)).map(({ id }) => id),
  );
}

async function replace(account: number, project_ids: (number | string)[]): Promise<void> {
  await call('PUT /ai-accounts/{account}/projects', { path: { account }, body: { project_ids } });
}

type Provider = AiAccount['provider'];

const PROVIDERS: readonly (readonly [Provider, string])[] = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
  ['openrouter', 'OpenRouter'],
  ['bedrock', 'Bedrock'],
  ['vertex-ai', 'Vertex AI'],
  ['ollama', 'Ollama'],
  ['custom', 'Custom'],
];

export function tellProvider(provider: Provider): string {
  return PROVIDERS.find(([each]) => each === provider)?.[1] ?? provider;
}

export const aiFields = (of?: AiAccount) => ({
  name: text('Name', { placeholder: 'OpenAI, team account' }),
  provider: choice('Provider', PROVIDERS),
  api_key: token('Key', {
    placeholder: of?.key_prefix ? 'stored; left empty, it stays' : '',
    hint: 'Bedrock, Vertex AI, Ollama and custom ones may go without.',
  }),
  base_url: optional('API URL', {
    placeholder: 'https://llm.example.com/v1',
    hint: "Where it is not the provider's own.",
  }),
  organization_id: optional('Organization'),
  ...(person.value?.all_projects && {
    all_projects: check('Serves every project', { hint: 'A standing rule: later ones too.' }),
  }),
});
