/** Database projects: the one that this project is linked to, and those that there are. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Badge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { person } from '../../session.ts';
import { useList } from '../../use-list.ts';
import { useLoad } from '../../use-load.ts';

export function Databases({ project }: { project: string }) {
  const list = useList('GET /database-projects', {});
  const owner = useLoad('GET /projects/{project}', { path: { project } });
  const linked = owner.data?.database_project_id ?? null;
  const [is_adding, setAdding] = useState(false);
  const link = async (database_project_id: number | null): Promise<void> => {
    await call('PATCH /projects/{project}', {
      path: { project },
      if_match: owner.etag,
      body: { database_project_id },
    });
    owner.reload();
  };
  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="button primary" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add a database
        </button>
      </div>
      <DataTable
        label="Databases"
        list={list}
        keyOf={(database) => database.id}
        href={(database) => hrefOf(to`/projects/${project}/accounts/databases/${database.id}`)}
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
          <Empty title="No database yet">
            <p>Add one with its reference at the provider; its address and secrets come after that.</p>
          </Empty>
        }
      />
      {is_adding && (
        <AddDatabase
          project={project}
          etag={owner.etag}
          is_first={linked === null}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  );
}

function AddDatabase(props: { project: string; etag: string | null; is_first: boolean; onClose(): void }) {
  const { project, etag, is_first, onClose } = props;
  const add = async (entered: Entered): Promise<void> => {
    const body = { ref: entered.text('ref'), name: entered.text('name') };
    const database = await call('POST /database-projects', { body });
    // What somebody of certain projects adds is linked to those that have none; of all projects, it is to nobody yet.
    if (is_first && person.value?.all_projects) {
      const link = { path: { project }, if_match: etag, body: { database_project_id: database.id } };
      await call('PATCH /projects/{project}', link).catch(() =>
        toast(`${database.name} is added, but could not be linked to this project`, 'bad'),
      );
    }
    toast(`${database.name} is added`);
    navigate(to`/projects/${project}/accounts/databases/${database.id}`);
  };
  return (
    <Dialog title="Add a database" onClose={onClose}>
      <Form submit="Add the database" onSubmit={add} onCancel={onClose}>
        <TextField name="name" label="Name" is_focused />
        <TextField
          name="ref"
          label="Reference"
          placeholder="abcdefghijkl"
          hint="What the provider calls it."
          is_mono
        />
      </Form>
      {is_first && <p class="muted fine">It becomes the database of this project.</p>}
    </Dialog>
  );
}
