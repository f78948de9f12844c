/** The backups that this Satchel keeps, and making one. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useList, useLoad } from '../../use-load.ts';
import { GoingBack } from './detail.tsx';
import { EachDay, Standing } from './schedule.tsx';

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
  const list = useList('GET /backups', {});
  const schedule = useLoad('GET /backups/schedule', {}, { looks_again: true });
  const newest = list.data?.data.find(({ status }) => status === 'completed');
  return (
    <>
      <PageHeader
        title="Backups"
        lead="Files on this machine, each with the database and every stored file. Copy them to another one: what lies here goes with it."
        actions={<MakeBackup />}
      />
      <div class="stack">
        <Loaded load={schedule}>{(of) => <Standing of={of} />}</Loaded>
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
            <Empty drawing="satchel" title="No backup yet">
              <p>Make one now, and have the server make one each day.</p>
              <MakeBackup />
            </Empty>
          }
        />
        {newest && schedule.data && (
          <GoingBack directory={schedule.data.directory} name={newest.name} title="Go back to the newest" />
        )}
        {schedule.data && <EachDay load={schedule} of={schedule.data} />}
      </div>
    </>
  );
}
