/** The imports into a list, newest first. */
import type { ContactList } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { METHODS, rejectedRows } from '../imports/outcomes.ts';

export function ListImports({ project, list: of }: { project: string; list: ContactList }) {
  const list = useList('GET /projects/{project}/email-lists/{list}/imports', {
    path: { project, list: of.id },
  });
  return (
    <DataTable
      label="Imports"
      list={list}
      keyOf={(row) => row.id}
      href={(row) => hrefOf(to`/projects/${project}/imports/${row.id}`)}
      columns={[
        { title: 'Import', cell: (row) => METHODS[row.method] },
        { title: 'Started', cell: (row) => <Time at={row.created_at} /> },
        { title: 'Status', cell: (row) => <Status of={row.status} /> },
        {
          title: 'Rows',
          is_number: true,
          cell: (row) => <Count of={row.total_rows ?? row.processed_rows} />,
        },
        { title: 'Accepted', is_number: true, cell: (row) => <Count of={row.accepted} /> },
        { title: 'Rejected', is_number: true, cell: (row) => <Count of={rejectedRows(row)} /> },
      ]}
      empty={
        <Empty title="Nothing was imported yet" command={`satchel import start ${of.id} people.csv`}>
          <p>Upload a CSV file, or paste addresses; each passes the same checks as a single contact.</p>
          {!of.archived && (
            <ButtonLink kind="primary" href={hrefOf(to`/projects/${project}/lists/${of.id}/import`)}>
              Import
            </ButtonLink>
          )}
        </Empty>
      }
    />
  );
}
