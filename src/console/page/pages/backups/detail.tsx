/** One backup: how its making goes, what is in it; verifying, downloading and deleting it. */

import { useState } from 'preact/hooks';
import type { Backup, Job } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FileLink } from '../../components/button-link.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Command } from '../../components/copy-button.tsx';
import { Empty, Facts, Loaded, Notice, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes, Count, tellBytes } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

const REFRESH_MS = 1000;

export default function BackupPage({ params }: PageProps<'backup'>) {
  const load = useLoad(
    'GET /backups',
    { query: { name: params.backup } },
    { every_ms: ({ data }) => (data[0]?.status === 'processing' ? REFRESH_MS : null) },
  );
  const schedule = useLoad('GET /backups/schedule', {});
  const backup = load.data?.data[0] ?? null;
  return (
    <>
      <PageHeader
        title={params.backup}
        back={{ href: hrefOf('/backups'), label: 'Backups' }}
        beside={backup && <Status of={backup.status} />}
      />
      <Loaded load={load}>
        {() =>
          backup ? (
            <div class="stack">
              {/* Another state has another job to tell of. */}
              <State key={backup.status} of={backup} />
              {backup.status === 'completed' && <Download of={backup} />}
              {backup.status === 'completed' && <Verify of={backup} />}
              {backup.status === 'completed' && schedule.data && (
                <GoingBack directory={schedule.data.directory} name={backup.name} title="Go back to it" />
              )}
              {backup.status !== 'processing' && <BackupEnd of={backup} />}
            </div>
          ) : (
            <Empty title="There is no such backup">
              <a href={hrefOf('/backups')}>To the backups</a>
            </Empty>
          )
        }
      </Loaded>
    </>
  );
}

function State({ of }: { of: Backup }) {
  const { data: job } = useLoad('GET /jobs/{job}', of.job_id === null ? null : { path: { job: of.job_id } });
  return (
    <>
      {of.status === 'processing' && (
        <div class="notice" role="status">
          <p>
            <strong>It is being made</strong>, since <Time at={of.created_at} />. Satchel goes on meanwhile,
            and you may leave this page.
          </p>
          <progress aria-label="The backup is being made" />
        </div>
      )}
      {of.status === 'failed' && (
        <Notice tone="bad">
          <strong>It failed.</strong>{' '}
          <span class="said">{job?.error ?? 'The file is not whole: it cannot be restored.'}</span>
        </Notice>
      )}
      <Panel>
        <Facts
          of={[
            ['Begun', <Time key="created" at={of.created_at} exact />],
            ['Size', of.size_bytes === null ? null : <Bytes of={of.size_bytes} />],
            ...(job?.result ? factsOf(job.result) : []),
            [
              'Job',
              of.job_id && (
                <a href={hrefOf(to`/jobs/${of.job_id}`)}>
                  <code>{of.job_id}</code>
                </a>
              ),
            ],
          ]}
        />
      </Panel>
    </>
  );
}

/** Facts that the job which made it told. */
function factsOf(result: NonNullable<Job['result']>): Parameters<typeof Facts>[0]['of'] {
  const { objects, object_bytes, database_bytes, master_key_id, left_out } = result;
  return [
    [
      'Files',
      typeof objects === 'number' && typeof object_bytes === 'number' ? (
        <>
          <Count of={objects} />, <Bytes of={object_bytes} />
        </>
      ) : null,
    ],
    ['Database', typeof database_bytes === 'number' ? <Bytes of={database_bytes} /> : null],
    [
      'Master key',
      typeof master_key_id === 'string' ? (
        <>
          <code>{master_key_id}</code> opens it, and is not in it
        </>
      ) : (
        'None: nothing in it is sealed'
      ),
    ],
    ...(Array.isArray(left_out) && left_out.length > 0
      ? [
          [
            'Left out',
            <span key="left" class="said">
              Files whose bytes were missing or damaged already: {left_out.map(String).join(', ')}
            </span>,
          ] as const,
        ]
      : []),
  ];
}

function BackupEnd({ of }: { of: Backup }) {
  const remove = async (): Promise<void> => {
    await call('DELETE /backups/{backup}', { path: { backup: of.name } });
    toast(`${of.name} is deleted`);
    navigate('/backups', { replace: true });
  };
  const is_whole = of.status === 'completed';
  return (
    <Ending
      title="Delete the backup"
      lead={
        is_whole
          ? 'Copies that were downloaded stay where they are.'
          : 'Only the note of it goes: there is no file.'
      }
      name={of.name}
      act={remove}
    >
      {is_whole
        ? `Its file of ${tellBytes(of.size_bytes ?? 0)} goes, and what is in no other backup cannot be restored any more.`
        : 'It could not be restored anyway.'}
    </Ending>
  );
}

/** Downloading a backup. */
export function Download({ of }: { of: Backup }) {
  return (
    <Panel
      title="Download"
      lead="Keep a copy on another machine. Whoever has it, and the master key, has everything: the download is noted in the audit trail."
    >
      <FileLink endpoint="GET /backups/{backup}" input={{ path: { backup: of.name } }}>
        Download {tellBytes(of.size_bytes ?? 0)}
      </FileLink>
    </Panel>
  );
}

/** Tells how to restore a backup: on the machine, as the server must not run meanwhile. */
export function GoingBack({ directory, name, title }: { directory: string; name: string; title: string }) {
  const path = `${directory}/${name}`;
  const word = /^[\w/.,+@=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return (
    <Panel
      title={title}
      lead="On the machine, with the server stopped, and the master key where it is now. What is there is kept in a folder beside; what would go out by itself waits until you let it go."
    >
      <Command of={`satchel restore ${word} --yes`} />
    </Panel>
  );
}

/** Verifying a backup: all of it is read, and restored to a scratch place. */
export function Verify({ of }: { of: Backup }) {
  const [result, setResult] = useState<{ ok: boolean; findings: readonly string[] } | null>(null);
  const verify = async (): Promise<void> => {
    setResult(null);
    setResult(await call('POST /backups/{backup}/verify', { path: { backup: of.name } }));
  };
  return (
    <Panel
      title="Verify"
      lead="Reads all of it, restores it to a scratch place and checks that. It takes minutes where much is stored; stay on this page for the answer."
    >
      <div class="stack">
        {result && (
          <div class={`notice ${result.ok ? 'good' : 'bad'}`} role="status">
            <p>
              <strong>{result.ok ? 'The backup is sound.' : 'The backup is not sound.'}</strong>
            </p>
            {result.findings.map((finding) => (
              <p key={finding} class="said">
                {finding}
              </p>
            ))}
          </div>
        )}
        <div>
          <ActionButton act={verify}>Verify</ActionButton>
        </div>
      </div>
    </Panel>
  );
}
