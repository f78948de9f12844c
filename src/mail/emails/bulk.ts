/**
 * Bulk mail: it has no jobs of its own. What waits to go out from a mailbox is its queue, and one job sends
 * that, a piece at a time, for as long as anything is due.
 */
import type { Tx } from '../../platform/database/database.ts';
import { utcDay } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { JobQueue } from '../../platform/jobs/engine.ts';
import { AT_ONCE, findOpenJob, laneOf, type NewJob, PRIORITY } from '../../platform/jobs/store.ts';
import {
  type ChosenMailbox,
  chooseMailbox,
  listCandidates,
  takeMailbox,
  takeUsage,
} from '../mailboxes/service.ts';
import { type AcceptanceDeps, countForKey, rowOf, wishesOf } from './acceptance.ts';
import { type } from './bulk-store.ts';
import { checkEmail } from './checking.ts';
import { move } from './life-store.ts';
import type { NewEmail } from './new-email.ts';
import { insertEmail } from './store.ts';
import type { EmailRow } from './tables.ts';

/** Has the job of a mailbox's queue come at a moment, or at once (0). One that runs looks again by itself. */
export function wakeQueue(tx: Tx, mailbox_id: number, run_at: number, { enqueue, hasten }: JobQueue): void {
  const job: NewJob = {
    project_id: null,
    type,
    priority: PRIORITY.marketing,
    resource: String(mailbox_id),
    payload: { mailbox_id },
    max_attempts: 1,
    run_at,
  };
  const open = findOpenJob(tx, job.priority, laneOf(job), null);
  if (open) hasten(tx, open.id, run_at);
  else enqueue(tx, job);
}

/** A mailbox for mail whose own is where its project came from; null where none fits. */
export function findPlace(tx: Tx, email: EmailRow, now_ms: number): number | null {
  const day = utcDay(now_ms);
  const choice = takeMailbox(tx, { ...wishesOf(email), day, now_ms });
  if (!choice.ok) return null;
  move(tx, email.id, { mailbox_id: choice.mailbox_id, quota_day: day });
  return choice.mailbox_id;
}

/**
 * Accepts one mail of a piece and returns its id. Throws as accepting one by itself does; nothing has changed
 * then.
 */
export type AcceptBulk = (email: NewEmail, attachments?: EmailRow['attachments']) => string;

/** The mailbox of all mails of a piece that ask for the same, and how many of them it was chosen for. */
interface Place {
  mailbox: ChosenMailbox;
  is_test: boolean;
  api_key_id: number | null;
  day: string;
  /** When the first of them is due. */
  due_at: number;
  count: number;
}

/**
 * Accepts a piece of bulk mail within one transaction: for mails that ask for the same, the mailbox is chosen
 * once, its quota counted once and its queue woken once.
 */
export function acceptBulk<T>(
  tx: Tx,
  { deps, now_ms }: { deps: AcceptanceDeps & JobQueue; now_ms: number },
  use: (accept: AcceptBulk) => T,
): T {
  const places = new Map<string, Place>();
  const close = ({ mailbox: { mailbox_id }, is_test, api_key_id, day, due_at, count }: Place): void => {
    if (api_key_id !== null) countForKey(tx, { api_key_id, day, count }, { deps, now_ms });
    if (!is_test) takeUsage(tx, mailbox_id, day, count);
    wakeQueue(tx, mailbox_id, due_at, deps);
  };
  const accept: AcceptBulk = (email, attachments = []) => {
    checkEmail(email, { max_body_bytes: deps.max_body_bytes, now_ms });
    const asked = {
      ...email,
      requested_domain: null,
      allowed_mailboxes: [...(email.allowed_mailboxes ?? [])],
    };
    const wishes = wishesOf(asked);
    const { is_test, api_key_id, scheduled_at } = email;
    const day = utcDay(scheduled_at ?? now_ms);
    const key = JSON.stringify([wishes, api_key_id, scheduled_at]);
    let place = places.get(key);
    if (place && place.count >= place.mailbox.left) {
      close(place);
      places.delete(key);
      place = undefined;
    }
    if (!place) {
      const request = { ...wishes, day, now_ms };
      const mailbox = chooseMailbox(listCandidates(tx, request), request);
      if (!mailbox.ok) throw mailbox.error;
      place = { mailbox, is_test, api_key_id, day, due_at: scheduled_at ?? AT_ONCE, count: 0 };
      places.set(key, place);
    }
    const id = newId(now_ms);
    const { mailbox } = place;
    insertEmail(tx, rowOf(asked, { id, job_id: null, mailbox, day, now_ms, attachments }), null);
    place.count += 1;
    return id;
  };
  const result = use(accept);
  for (const place of places.values()) close(place);
  return result;
}
