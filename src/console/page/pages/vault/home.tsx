/** The vault of a project: its services with what is stored of each, and the files that apps read them from. */

import type { VaultMetadata } from '../../api.generated.ts';
import { may } from '../../capabilities.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { counted } from '../../components/quantity.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-list.ts';
import { EnvFiles } from './env-files.tsx';

const TABS = { services: 'Services', files: 'Environment files' } as const;
const LEAD =
  'The credentials of the app, encrypted. An app is given them by satchel vault run or an environment file.';

export default function VaultPage({ params }: PageProps<'project'>) {
  const { project } = params;
  const tab = useTab(['services', 'files']);
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
  return (
    <>
      <PageHeader title="Vault" lead={LEAD} />
      <Tabs tabs={TABS} now={tab} />
      {tab === 'files' && <EnvFiles project={project} />}
      {tab === 'services' &&
        (may('can_read_vault') ? <Services project={project} /> : <Known project={project} />)}
    </>
  );
}

const storedOf = ({ present }: VaultMetadata): number => Object.values(present).filter(Boolean).length;

function Services({ project }: { project: string }) {
  const list = useList('GET /projects/{project}/vault', { path: { project } }, { is_paged: false });
  // What is stored first; each part as the registry has it.
  const rows = list.data?.data.toSorted((a, b) => Number(storedOf(b) > 0) - Number(storedOf(a) > 0));
  const is_empty = rows?.every((row) => storedOf(row) === 0);
  return (
    <div class="stack">
      {is_empty && (
        <div class="panel">
          <Empty
            title="Nothing is stored yet"
            command={`satchel vault set --project ${project} stripe secret_key=- < key.txt`}
          >
            <p>
              Open the service that a credential is of, or Environment variables for what is of none, and
              store it there.
            </p>
          </Empty>
        </div>
      )}
      <DataTable
        label="Services"
        list={{ ...list, data: rows ? { data: rows } : null }}
        keyOf={(row) => row.service}
        href={(row) => hrefOf(to`/projects/${project}/vault/${row.service}`)}
        empty={null}
        columns={[
          { title: 'Service', cell: (row) => row.label },
          { title: 'Named', cell: (row) => <code>{row.service}</code> },
          { title: 'Stored', cell: (row) => <Stored of={row} /> },
          { title: 'Changed', cell: (row) => <Time at={row.updated_at} /> },
        ]}
      />
    </div>
  );
}

function Stored({ of }: { of: VaultMetadata }) {
  const many = storedOf(of);
  if (many === 0) return <span class="muted">nothing</span>;
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
