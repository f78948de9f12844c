/** Events for webhooks: each is a row in the transaction of what it tells, where anybody listens. */
import type { Tx } from '../platform/database/database.ts';
import { type Clock, toIso } from '../platform/host/clock.ts';
import type { EventType } from './schemas.ts';
import * as store from './store.ts';

/** What an event tells. */
export interface EventData {
  /** The record as GET answers it, at the moment of the event. */
  data: object;
  /** Whom it speaks of, so that it can be forgotten with them. */
  address?: string | null;
}

export class WebhookEvents {
  constructor(private readonly deps: { clock: Clock; onEvent(): void }) {}

  /**
   * Notes an event within its transaction. Where no webhook of the project listens that costs one seek:
   * `describe` is not asked, and nothing is kept. Null tells nothing.
   */
  tell(tx: Tx, project_id: number, type: EventType, describe: () => EventData | null): void {
    if (!store.isListenedTo(tx, project_id, type)) return;
    const told = describe();
    if (!told) return;
    const created_at = this.deps.clock.now();
    const address = told.address?.toLowerCase() ?? null;
    const body = bodyOf(type, created_at, told.data);
    store.insertEvent(tx, { project_id, type, body, address, is_fanned_out: false, created_at });
    this.deps.onEvent();
  }
}

/** The body by the specification: the same over tries and replays. */
export function bodyOf(type: string, at_ms: number, data: object): string {
  return JSON.stringify({ type, timestamp: toIso(at_ms), data });
}
