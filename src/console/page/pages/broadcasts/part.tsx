/** The props of each part of a broadcast's page. */

import type { Broadcast } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { askAboutName } from '../../components/ask-first.tsx';
import { Badge, Status } from '../../components/status.tsx';

export interface BroadcastPartProps {
  path: { project: string; broadcast: string };
  of: Broadcast;
  /** The broadcast is another one now: it is to be loaded again. */
  onChange(): void;
}

/** Says whether it may still be changed. */
export function isPlanned({ status }: Pick<Broadcast, 'status'>): boolean {
  return status === 'draft' || status === 'scheduled';
}

const REASONS = {
  moved: 'moved',
  restored: 'restored',
  late: 'too late',
  not_ready: 'not ready',
  bounce_threshold: 'bounces',
  relay_refuses: 'relay refuses',
} as const;

export function BroadcastStatus({ of }: { of: Broadcast }) {
  const { status, pause_reason, is_test } = of;
  const has_reason = status === 'paused' && pause_reason !== null && pause_reason !== 'manual';
  return (
    <span class="badges">
      {has_reason ? (
        <Status
          of={`paused: ${REASONS[pause_reason]}`}
          tone={pause_reason === 'moved' || pause_reason === 'restored' ? 'warn' : 'bad'}
        />
      ) : (
        <Status of={status} />
      )}
      {is_test && <Badge>test</Badge>}
    </span>
  );
}

/** Asks before a second one of a name is made, of those that have not ended. Throws Declined, and ApiError. */
export async function askAboutBroadcast(project: string, name: string): Promise<void> {
  const { data } = await call('GET /projects/{project}/email-broadcasts', {
    path: { project },
    query: { name },
  });
  const open = data.filter(({ status }) => status !== 'sent' && status !== 'cancelled');
  await askAboutName('broadcast', name, open);
}
