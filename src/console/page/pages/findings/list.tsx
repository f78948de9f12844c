/** Findings with their remedies, as `satchel doctor` prints them. */
import type { Finding } from '../../api.generated.ts';
import { ErrorBox } from '../../components/error-box.tsx';
import { Empty, Facts, PageHeader, Panel, Skeleton } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { FindingList } from './finding-list.tsx';
import { useFindings } from './latest.ts';

export default function FindingsPage() {
  const { data, looked_at, error, is_loading, reload } = useFindings();
  return (
    <>
      <PageHeader
        title="Findings"
        lead={
          <>
            Files, database, keys, mail and DNS are looked at, and nothing is changed.
            {looked_at && (
              <>
                {' '}
                Looked at <Time at={looked_at} />.
              </>
            )}{' '}
            On the machine, <code>satchel doctor</code> looks anew.
          </>
        }
        actions={
          <button type="button" class="button" disabled={is_loading} aria-busy={is_loading} onClick={reload}>
            {is_loading ? 'Looking…' : 'Look again'}
          </button>
        }
      />
      {error && <ErrorBox error={error} retry={reload} />}
      {!data && !error && (
        <Panel>
          <Skeleton lines={8} />
        </Panel>
      )}
      {data && <Found of={data} onChange={reload} />}
    </>
  );
}

function Found({ of, onChange }: { of: readonly Finding[]; onChange(): void }) {
  const amiss = of.filter(({ status }) => status !== 'ok');
  const fine = of.filter(({ status }) => status === 'ok');
  return (
    <div class="stack">
      {amiss.length === 0 ? (
        <div class="panel">
          <Empty drawing="well" title="All is well">
            <p>Nothing needs you.</p>
          </Empty>
        </div>
      ) : (
        <Panel title="Needs attention">
          <FindingList label="Needs attention" of={amiss} onChange={onChange} />
        </Panel>
      )}
      {fine.length > 0 && (
        <Panel title="All well">
          <Facts
            of={fine.map(({ check, message }) => [check, <span class="said">{message}</span>] as const)}
          />
        </Panel>
      )}
    </div>
  );
}
