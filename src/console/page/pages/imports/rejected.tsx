/** The rows that an import did not take: how many for which reason, the first of them, and all as a file. */
import { useEffect, useState } from 'preact/hooks';
import type { Import } from '../../api.generated.ts';
import { ApiError, callRaw } from '../../api.ts';
import { ErrorBox } from '../../components/error-box.tsx';
import { FileLink } from '../../components/file-link.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted } from '../../components/quantity.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { parseCsv } from './csv-head.ts';
import { REASONS, type Reason, rejectedRows, tellReason } from './outcomes.ts';

const ENDPOINT = 'GET /projects/{project}/email-imports/{import}/rejected';
const ROWS_SHOWN = 50;

interface RejectedProps {
  path: { project: string; import: string };
  of: Import;
}

export function Rejected({ path, of }: RejectedProps) {
  const total = rejectedRows(of);
  if (total === 0) return null;
  const reasons = (Object.keys(REASONS) as Reason[]).filter((reason) => of[reason] > 0);
  return (
    <Panel
      title={`${counted(total, 'row')} not taken`}
      lead={reasons.map((reason) => `${REASONS[reason]}: ${of[reason]}`).join(' · ')}
      actions={
        <FileLink endpoint={ENDPOINT} input={{ path }} is_small>
          Download rejected.csv
        </FileLink>
      }
      flush
    >
      <FirstRows path={path} total={total} />
    </Panel>
  );
}

/** The head of the file: it may be as long as the import. */
function FirstRows({ path, total }: { path: RejectedProps['path']; total: number }) {
  const [rows, setRows] = useState<string[][] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const { project, import: id } = path;
  useEffect(() => {
    let is_gone = false;
    readHead({ project, import: id }).then(
      (read) => !is_gone && setRows(read),
      (thrown: unknown) => !is_gone && thrown instanceof ApiError && setError(thrown),
    );
    return () => {
      is_gone = true;
    };
  }, [project, id, total]);
  if (error) return <ErrorBox error={error} />;
  if (rows === null)
    return (
      <div class="panel-body">
        <Skeleton />
      </div>
    );
  if (rows.length === 0) return <p class="panel-body muted">The rows are kept for 90 days.</p>;
  return (
    <>
      <table class="table-cards" aria-label="Rows that were not taken">
        <thead>
          <tr>
            <th scope="col">Email</th>
            <th scope="col">Row</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([row = '', email = '', reason = '']) => (
            <tr key={row}>
              <td data-label="Email">
                <span>{email || <span class="muted">(empty)</span>}</span>
              </td>
              <td data-label="Row">
                <span>{row}</span>
              </td>
              <td data-label="Reason">
                <span>{tellReason(reason)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > rows.length && <p class="table-foot">The first {rows.length} of them. The file has all.</p>}
    </>
  );
}

/** Rows of row_number, email and reason, without the header; no more of the answer is read than they need. */
async function readHead(path: RejectedProps['path']): Promise<string[][]> {
  const response = await callRaw(ENDPOINT, { path });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader && parseCsv(text, ROWS_SHOWN + 2).length < ROWS_SHOWN + 2) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader?.cancel();
  return parseCsv(text, ROWS_SHOWN + 1).slice(1);
}
