/** The vault of a project: its services with what is stored of each, and the files that apps read them from. */
import { useState } from 'preact/hooks';
import type { VaultMetadata } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { type List, useList, useLoad } from '../../use-load.ts';
import { EnvFiles } from './env-files.tsx';
import {
  EnvironmentSwitch,
  EnvironmentsTab,
  type InEnvironment,
  keeping,
  useEnvironment,
  useEnvironments,
} from './environments.tsx';
import { ImportEnv } from './import-env.tsx';

const TABS = { services: 'Services', files: 'Environment files', environments: 'Environments' } as const;
const TABS_BLIND = { services: 'Services', files: 'Environment files' } as const;
const LEAD =
  'The credentials of the app, encrypted. It gets them by satchel vault run or an environment file.';

export default function VaultPage({ params }: PageProps<'project'>) {
  const { project } = params;
  const tab = useTab(['services', 'files']);
  const query = useEnvironment();
  if (!may('can_read_vault') && !may('can_write_vault') && !may('can_reveal_vault')) {
    return (
      <>
        <PageHeader title="Vault" />
        <div class="panel">
          <Empty title="You may not look into vaults">
            <p>Somebody who may administer can give you the capability can_read_vault.</p>
          </Empty>
        </div>
      </>
    );
  }
  return may('can_read_vault') ? (
    <Vault project={project} />
  ) : (
    <>
      <PageHeader title="Vault" lead={LEAD} />
      <Tabs tabs={TABS_BLIND} now={tab} keep={query} />
      {tab === 'files' ? <EnvFiles project={project} query={query} /> : <Known project={project} />}
    </>
  );
}

const storedOf = ({ present }: VaultMetadata): number => Object.values(present).filter(Boolean).length;

function Vault({ project }: { project: string }) {
  const tab = useTab(['services', 'files', 'environments']);
  const query = useEnvironment();
  const all = useEnvironments(project);
  const list = useList('GET /projects/{project}/vault', { path: { project } }, { query, is_paged: false });
  const [opened, setOpened] = useState<'choice' | 'paste' | null>(null);
  const rows = list.data?.data.filter((row) => storedOf(row) > 0);
  const is_empty = rows?.length === 0 && all.data?.length === 1;
  const close = (): void => setOpened(null);
  const acts = may('can_write_vault') && (
    <>
      <button type="button" class="button" onClick={() => setOpened('paste')}>
        Paste a .env file
      </button>
      <button type="button" class="button primary" onClick={() => setOpened('choice')}>
        <Icon name="plus" />
        Store a secret
      </button>
    </>
  );
  return (
    <>
      <PageHeader title="Vault" {...(!is_empty && { lead: LEAD, actions: acts })} />
      {is_empty ? (
        <div class="panel">
          <Empty
            drawing="key"
            title="The app’s passwords and keys stand here encrypted, and become its environment."
          >
            <div class="row">{acts}</div>
          </Empty>
        </div>
      ) : (
        <>
          <Tabs tabs={TABS} now={tab} keep={query} />
          <div class="stack">
            {tab !== 'environments' && <EnvironmentSwitch all={all} now={query} />}
            {tab === 'environments' ? (
              <EnvironmentsTab project={project} all={all} />
            ) : tab === 'files' ? (
              <EnvFiles project={project} query={query} />
            ) : (
              <Services
                project={project}
                query={query}
                list={{ ...list, data: rows ? { data: rows } : null }}
              />
            )}
          </div>
        </>
      )}
      {opened === 'choice' && <StoreChoice project={project} query={query} onClose={close} />}
      {opened === 'paste' && (
        <ImportEnv project={project} query={query} onChange={list.reload} onClose={close} />
      )}
    </>
  );
}

/** Those of which something is stored. */
function Services(props: { project: string; query: InEnvironment; list: List<VaultMetadata> }) {
  const { project, query, list } = props;
  return (
    <DataTable
      label="Services"
      list={list}
      keyOf={(row) => row.service}
      href={(row) => hrefOf(keeping(to`/projects/${project}/vault/${row.service}`, query))}
      empty={<Empty title="Nothing is stored in this environment" />}
      columns={[
        { title: 'Service', cell: (row) => row.label },
        { title: 'Stored', cell: (row) => <Stored of={row} /> },
        { title: 'Changed', cell: (row) => <Time at={row.updated_at} /> },
      ]}
    />
  );
}

function Stored({ of }: { of: VaultMetadata }) {
  const many = storedOf(of);
  if (of.service === 'env') return <>{counted(many, 'variable')}</>;
  return (
    <>
      {many} of {counted(Object.keys(of.present).length, 'field')}
    </>
  );
}

/** For those who may store or reveal, and not see what is there. */
function Known({ project }: { project: string }) {
  const list = useList('GET /vault/services', {}, { is_paged: false });
  return (
    <DataTable
      label="Services"
      list={list}
      keyOf={(row) => row.service}
      href={(row) => hrefOf(to`/projects/${project}/vault/${row.service}`)}
      empty={null}
      columns={[
        { title: 'Service', cell: (row) => row.label },
        { title: 'Named', cell: (row) => <code>{row.service}</code> },
      ]}
    />
  );
}

/** Storing a secret: what it is of leads to the fields of that. */
function StoreChoice(props: { project: string; query: InEnvironment; onClose(): void }) {
  const { project, query, onClose } = props;
  const load = useLoad('GET /vault/services', {});
  const go = async (entered: Entered): Promise<void> => {
    const service = entered.text('service');
    const part: Record<string, string> = service === 'env' ? { add: '' } : { tab: 'set' };
    navigate(`${to`/projects/${project}/vault/${service}`}?${new URLSearchParams({ ...query, ...part })}`);
  };
  return (
    <Dialog title="Store a secret" onClose={onClose}>
      <Loaded load={load}>
        {(services) => (
          <Form is_fleeting submit="Go on" onSubmit={go} onCancel={onClose}>
            <SelectField
              name="service"
              label="What it is of"
              value="env"
              choices={[
                ['env', 'An environment variable'],
                ...services
                  .filter(({ free_form }) => !free_form)
                  .map(({ service, label }) => [service, label] as const),
              ]}
            />
          </Form>
        )}
      </Loaded>
    </Dialog>
  );
}
