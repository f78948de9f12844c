/** The backups that this Satchel keeps, and making one. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useList } from '../../use-list.ts';

const REFRESH_MS = 10_000;

async function make(): Promise<void> {
  const { name } = await call('POST /backups', {});
  navigate(to`/backups/${name}`);
}

function MakeBackup() {
  return (
    <ActionButton kind="primary" act={make}>
      <Icon name="plus" />
      Make a backup
    </ActionButton>
  );
}

export default function BackupsPage() {
  const list = useList('GET /backups', {}, { every_ms: REFRESH_MS });
  return (
    <>
      <PageHeader
        title="Backups"
        lead={
          <>
            Files in the folder <code>backups</code> of the data directory, each with the database and every
            stored file. The master key is not in them: keep a copy of it elsewhere, or nothing sealed can be
            read after a restore.
          </>
        }
        actions={<MakeBackup />}
      />
      <DataTable
        label="Backups"
        list={list}
        keyOf={(backup) => backup.name}
        href={(backup) => hrefOf(to`/backups/${backup.name}`)}
        columns={[
          { title: 'Name', cell: (backup) => backup.name },
          { title: 'State', cell: (backup) => <Status of={backup.status} /> },
          {
            title: 'Size',
            is_number: true,
            cell: (backup) => (backup.size_bytes === null ? '—' : <Bytes of={backup.size_bytes} />),
          },
          { title: 'Made', cell: (backup) => <Time at={backup.created_at} /> },
        ]}
        empty={
          <Empty drawing="satchel" title="No backup yet" command="satchel backup --keep 7 /var/backups">
            <p>
              Make one now. Have the command make one each night, too, best into a folder that is copied to
              another machine: what lies on this one goes with it.
            </p>
            <MakeBackup />
          </Empty>
        }
      />
    </>
  );
}
