/** The rows that an import did not take: how many for which reason, the first of them, to be edited and taken in again, and all as a file. */

import { useEffect, useState } from 'preact/hooks';
import type { ContactList, Import } from '../../api.generated.ts';
import { ApiError, callRaw } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { FileLink } from '../../components/button-link.tsx';
import { Table } from '../../components/data-table.tsx';
import { ErrorBox } from '../../components/error-box.tsx';
import { Panel, Skeleton } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { parseCsv, readCell } from './csv-head.ts';
import { EditRejected } from './edit-rejected.tsx';
import { REASONS, type Reason, rejectedRows, tellReason } from './outcomes.ts';

const ENDPOINT = 'GET /projects/{project}/email-imports/{import}/rejected';
const ROWS_SHOWN = 50;

interface RejectedProps {
  path: { project: string; import: string };
  of: Import;
  /** Null until it is here. */
  list: ContactList | null;
}

/** The head of the file: row_number, email and reason, then the other columns. */
export interface RejectedHead {
  headers: string[];
  rows: string[][];
}

export function Rejected({ path, of, list }: RejectedProps) {
  const total = rejectedRows(of);
  const [is_editing, setEditing] = useState(false);
  const { head, error } = useHead(path, total);
  if (total === 0) return null;
  const reasons = (Object.keys(REASONS) as Reason[]).filter((reason) => of[reason] > 0);
  const may_edit = mayWrite() && list && !list.archived && head && head.rows.length > 0;
  return (
    <Panel
      title={`${counted(total, 'row')} not taken`}
      lead={reasons.map((reason) => `${REASONS[reason]}: ${of[reason]}`).join(' · ')}
      actions={
        <>
          {may_edit && !is_editing && (
            <button type="button" class="button small" onClick={() => setEditing(true)}>
              Edit and import again
            </button>
          )}
          <FileLink endpoint={ENDPOINT} input={{ path }} is_small>
            Download rejected.csv
          </FileLink>
        </>
      }
      flush={!is_editing}
    >
      {error && <ErrorBox error={error} />}
      {!error && !head && (
        <div class="panel-body">
          <Skeleton />
        </div>
      )}
      {head && !(is_editing && list) && <FirstRows head={head} />}
      {head && is_editing && list && (
        <EditRejected path={path} of={of} list={list} head={head} onCancel={() => setEditing(false)} />
      )}
      {head && head.rows.length > 0 && total > head.rows.length && (
        <p class={is_editing ? 'hint' : 'table-foot'}>
          The first {head.rows.length} of them. The file has all: edited, it is imported as any other.
        </p>
      )}
    </Panel>
  );
}

function FirstRows({ head }: { head: RejectedHead }) {
  if (head.rows.length === 0) return <p class="panel-body muted">The rows are kept for 90 days.</p>;
  return (
    <Table
      label="Rows that were not taken"
      rows={head.rows}
      keyOf={([row = '']) => row}
      columns={[
        { title: 'Email', cell: ([, email]) => email || <span class="muted">(empty)</span> },
        { title: 'Row', cell: ([row]) => row },
        { title: 'Reason', cell: ([, , reason = '']) => tellReason(reason) },
      ]}
    />
  );
}

/** The file may be as long as the import. */
function useHead({ project, import: id }: RejectedProps['path'], total: number) {
  const [head, setHead] = useState<RejectedHead | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    if (total === 0) return;
    let is_gone = false;
    readHead({ project, import: id }).then(
      (read) => !is_gone && setHead(read),
      (thrown: unknown) => !is_gone && thrown instanceof ApiError && setError(thrown),
    );
    return () => {
      is_gone = true;
    };
  }, [project, id, total]);
  return { head, error };
}

/** No more of the answer is read than is shown. */
async function readHead(path: RejectedProps['path']): Promise<RejectedHead> {
  const response = await callRaw(ENDPOINT, { path });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader && parseCsv(text, ROWS_SHOWN + 2).length < ROWS_SHOWN + 2) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader?.cancel();
  const [headers = [], ...rows] = parseCsv(text, ROWS_SHOWN + 1).map((row) => row.map(readCell));
  return { headers, rows };
}
