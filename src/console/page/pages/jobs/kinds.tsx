/** Jobs in words, and their columns: the same in both lists of them. */
import type { Job } from '../../api.generated.ts';
import type { Column } from '../../components/data-table.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';

const KINDS: Readonly<Record<string, string>> = {
  'email.send': 'Mail',
  'email.bulk': 'Newsletters and sequences of a mailbox',
  'schedule.run': 'Run of a schedule',
  'email.import': 'Import',
  'email.subscribe': 'Sign-up',
  'sequence.step': 'Steps of a sequence',
  'broadcast.send': 'Broadcast',
  'backup.make': 'Backup',
};

/** Those that a project has. */
export const PROJECT_KINDS = Object.keys(KINDS).filter(
  (type) => !['email.bulk', 'backup.make'].includes(type),
);

export const JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'];

export function tellKind(type: string): string {
  return KINDS[type] ?? type;
}

export const JOB_COLUMNS: readonly Column<Job>[] = [
  {
    title: 'Kind',
    cell: (job) => (
      <>
        {tellKind(job.type)}
        {job.error !== null && <span class="cell-note">{job.error}</span>}
      </>
    ),
  },
  { title: 'Status', cell: (job) => <Status of={job.status} /> },
  { title: 'Attempts', is_number: true, cell: (job) => <Count of={job.attempts} /> },
  { title: 'Queued', cell: (job) => <Time at={job.queued_at} /> },
  { title: 'Finished', cell: (job) => <Time at={job.finished_at} /> },
];
