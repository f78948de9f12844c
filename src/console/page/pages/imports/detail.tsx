/** The state of an import, while it goes on and after: its rows, those not taken, and going on after a failure. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Import } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { type Load, useLoad } from '../../use-load.ts';
import { LEFT_OUT, nameOf } from './columns.ts';
import { METHODS, REASONS, type Reason, rejectedRows } from './outcomes.ts';
import { Rejected } from './rejected.tsx';

export default function ImportPage({ params }: PageProps<'project' | 'import'>) {
  const { project } = params;
  const load = useImport(params);
  const { data: shown } = load;
  const list = useLoad(
    'GET /projects/{project}/email-lists/{list}',
    shown && { path: { project, list: shown.list } },
  );
  const name = list.data?.name ?? 'List';
  return (
    <>
      <PageHeader
        title={shown ? `Import into ${name}` : 'Import'}
        back={{
          href: hrefOf(shown ? to`/projects/${project}/lists/${shown.list}` : to`/projects/${project}/lists`),
          label: shown ? name : 'Lists',
        }}
        beside={shown && <Status of={shown.status} />}
        lead={
          shown && (
            <>
              {METHODS[shown.method]}, started <Time at={shown.created_at} />
              {shown.finished_at && (
                <>
                  , ended <Time at={shown.finished_at} />
                </>
              )}
            </>
          )
        }
        actions={
          shown && (
            <ButtonLink href={hrefOf(to`/projects/${project}/lists/${shown.list}`)}>
              Contacts of the list
            </ButtonLink>
          )
        }
      />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            <Progress path={params} of={of} onChange={load.reload} />
            {of.status === 'failed' && <Failed path={params} of={of} onChange={load.reload} />}
            <Outcome of={of} />
            {of.columns && <ColumnsTold of={of.columns} />}
            <Rejected key={of.status} path={params} of={of} list={list.data} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Progress(props: { path: { project: string; import: string }; of: Import; onChange(): void }) {
  const { path, of, onChange } = props;
  const [is_asking, setAsking] = useState(false);
  if (of.status !== 'pending' && of.status !== 'processing') return null;
  const { total_rows, processed_rows, progress_percent, done_at_estimate } = of;
  const cancel = async (): Promise<void> => {
    await call('POST /projects/{project}/email-imports/{import}/cancel', { path });
    setAsking(false);
    onChange();
  };
  return (
    <Panel>
      <div class="stack-small">
        <p>
          <Count of={processed_rows} />
          {total_rows !== null && (
            <>
              {' of '}
              <Count of={total_rows} />
            </>
          )}{' '}
          rows are done{progress_percent !== null && ` (${progress_percent} %)`}.
        </p>
        <progress
          aria-label="Rows that are done"
          {...(progress_percent === null ? {} : { value: progress_percent, max: 100 })}
        />
        <p class="muted">
          It goes on whether or not this page is open
          {done_at_estimate !== null && (
            <>
              , and its last row is due <Time at={done_at_estimate} />
            </>
          )}
          . A row whose domain the DNS says nothing about waits, and is tried again.
        </p>
        {mayWrite() && (
          <div>
            <button type="button" class="button" onClick={() => setAsking(true)}>
              Cancel the import
            </button>
          </div>
        )}
      </div>
      {is_asking && (
        <Dialog title="Cancel the import" onClose={() => setAsking(false)}>
          <p>It ends for good. Whoever is on the list by then stays there.</p>
          <ActionButton act={cancel} done="The import is cancelled" kind="bad">
            End it for good
          </ActionButton>
        </Dialog>
      )}
    </Panel>
  );
}

function Failed(props: { path: { project: string; import: string }; of: Import; onChange(): void }) {
  const { path, of, onChange } = props;
  const resume = async (): Promise<void> => {
    await call('POST /projects/{project}/email-imports/{import}/resume', { path });
    onChange();
  };
  return (
    <div class="notice bad" role="alert">
      <p>{of.error ?? 'The import failed.'}</p>
      {of.method === 'csv' ? (
        <>
          <p>
            <Count of={of.processed_rows} /> rows are done and count once: it goes on behind the last of them.
          </p>
          <div>
            <ActionButton act={resume} done="The import goes on">
              Go on with it
            </ActionButton>
          </div>
        </>
      ) : (
        <p>
          What was pasted cannot be gone on with. Paste it again: whoever is on the list already counts as
          such.
        </p>
      )}
    </div>
  );
}

function Outcome({ of }: { of: Import }) {
  const reasons = Object.keys(REASONS) as Reason[];
  return (
    <Panel title="What became of the rows" flush>
      <Tiles
        of={[
          { label: 'Accepted', value: of.accepted, note: 'new on the list' },
          { label: 'Changed', value: of.updated_existing, note: 'were on the list' },
          { label: 'Duplicates', value: of.duplicate, note: 'left as they are' },
          {
            label: 'Rejected',
            value: rejectedRows(of),
            note: reasons.some((reason) => of[reason] > 0) ? 'see below' : 'none',
          },
        ]}
      />
    </Panel>
  );
}

/** Tells of each column, also of one that went into no contact. */
function ColumnsTold({ of }: { of: NonNullable<Import['columns']> }) {
  const { fields, kept, left_out, unknown_words } = of;
  return (
    <Panel title="What became of the columns">
      <Facts
        of={[
          ...Object.entries(fields).map(([header, field]) => [header, nameOf(field)] as const),
          ...kept.map((header) => [header, 'Custom field'] as const),
          ...left_out.map(
            ({ column, header, reason }) => [header || `Column ${column}`, LEFT_OUT[reason]] as const,
          ),
          ...(unknown_words.length > 0
            ? [['Words that say neither yes nor no', unknown_words.join(', ')] as const]
            : []),
        ]}
      />
    </Panel>
  );
}

const FIRST_MS = 1000;
const LAST_MS = 60_000;

/** The time until the next look, after so many that showed nothing new; null for no more. */
export function waitFor(of: Pick<Import, 'status'> | null, looks_without_news: number): number | null {
  if (of && of.status !== 'pending' && of.status !== 'processing') return null;
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(looks_without_news, 10));
}

function useImport(path: { project: string; import: string }): Load<Import> {
  const [looks, setLooks] = useState(0);
  const [seen, setSeen] = useState<Import | null>(null);
  const load = useLoad(
    'GET /projects/{project}/email-imports/{import}',
    { path },
    {
      every_ms: waitFor(seen, looks),
    },
  );
  const last = useRef('');
  const { data, is_loading } = load;
  useEffect(() => {
    if (is_loading) return;
    // A look that failed shows nothing new either.
    const now = `${data?.status} ${data?.processed_rows}`;
    setLooks((so_far) => (now === last.current ? so_far + 1 : 0));
    last.current = now;
    setSeen(data);
  }, [is_loading, data]);
  return load;
}
