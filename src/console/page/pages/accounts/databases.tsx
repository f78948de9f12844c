/** Database projects: the one that this project is linked to, and those that there are. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Fields } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Empty } from '../../components/page.tsx';
import { Badge } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList, useLoad } from '../../use-load.ts';
import { FIRST_FIELDS } from './database.tsx';
import { Add } from './parts.tsx';

export function Databases({ project }: { project: string }) {
  const list = useList('GET /database-projects', {});
  const owner = useLoad('GET /projects/{project}', { path: { project } });
  const linked = owner.data?.database_project_id ?? null;
  const pageOf = (id: number) => to`/projects/${project}/accounts/databases/${id}`;
  const link = async (database_project_id: number | null): Promise<void> => {
    await call('PATCH /projects/{project}', {
      path: { project },
      if_match: owner.etag,
      body: { database_project_id },
    });
    owner.reload();
  };
  const add = async (entered: Entered) => {
    const database = await call('POST /database-projects', { body: entered.read(FIRST_FIELDS) });
    // A database of somebody with certain projects is linked to those that have none; of somebody with all projects, to none yet.
    if (linked === null && person.value?.all_projects) {
      await link(database.id).catch(() =>
        toast(`${database.name} is added, but could not be linked to this project`, 'bad'),
      );
    }
    return database;
  };
  return (
    <div class="stack">
      <div class="row">
        <Add noun="database" title="Add a database" add={add} pageOf={pageOf}>
          <Fields fields={FIRST_FIELDS} is_focused />
          {linked === null && <p class="muted fine">It becomes the database of this project.</p>}
        </Add>
      </div>
      <DataTable
        label="Databases"
        list={list}
        keyOf={(database) => database.id}
        href={(database) => hrefOf(pageOf(database.id))}
        columns={[
          { title: 'Name', cell: (database) => database.name },
          { title: 'Reference', cell: (database) => <code>{database.ref}</code> },
          { title: 'Region', cell: (database) => database.region ?? <span class="muted">—</span> },
          {
            title: 'Of this project',
            cell: (database) =>
              database.id === linked ? <Badge tone="accent">linked</Badge> : <span class="muted">no</span>,
          },
          {
            title: 'Link',
            is_number: true,
            cell: (database) =>
              database.id === linked ? (
                <ActionButton
                  is_small
                  label={`Unlink ${database.name}`}
                  done="The project has no database any more"
                  act={() => link(null)}
                >
                  Unlink
                </ActionButton>
              ) : (
                <ActionButton
                  is_small
                  label={`Link ${database.name}`}
                  done={`${database.name} is the database of this project`}
                  act={() => link(database.id)}
                >
                  Link
                </ActionButton>
              ),
          },
        ]}
        empty={
          <Empty drawing="files" title="No database yet">
            <p>Add one with its reference at the provider; its host and secrets come after that.</p>
          </Empty>
        }
      />
    </div>
  );
}
