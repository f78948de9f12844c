/** Where a broadcast stands; one that paused by itself needs somebody to look at it. */
import type { Broadcast } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Status } from '../../components/status.tsx';

const BY_ITSELF = {
  late: 'too late',
  not_ready: 'not ready',
  bounce_threshold: 'bounces',
  relay_refuses: 'relay refuses',
} as const;

export function BroadcastStatus({ of }: { of: Broadcast }) {
  const { status, pause_reason, is_test } = of;
  const is_by_itself = status === 'paused' && pause_reason !== null && pause_reason !== 'manual';
  return (
    <span class="badges">
      {is_by_itself ? (
        <Status of={`paused: ${BY_ITSELF[pause_reason]}`} tone="bad" />
      ) : (
        <Status of={status} />
      )}
      {is_test && <Badge>test</Badge>}
    </span>
  );
}
