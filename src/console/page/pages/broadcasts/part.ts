/** What each part of a broadcast's page is given. */
import type { Broadcast } from '../../api.generated.ts';

export interface BroadcastPartProps {
  path: { project: string; broadcast: string };
  of: Broadcast;
  /** The broadcast is another one now: it is to be loaded again. */
  onChange(): void;
}

/** Whether it may still be changed. */
export function isPlanned({ status }: Pick<Broadcast, 'status'>): boolean {
  return status === 'draft' || status === 'scheduled';
}
