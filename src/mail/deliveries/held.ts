/** Mail that a restore holds: it is let go, or counts as done. */
import type { Database, Tx } from '../../platform/database/database.ts';
import {
  COUNTS_AS_DONE,
  findHeldJob,
  HELD_FROM,
  inPieces,
  isHeldByRestore,
  listHeldJobs,
  type Release,
  releaseJobs,
} from '../../platform/jobs/restore-hold.ts';
import { HELD } from '../../platform/jobs/store.ts';
import { bulkQueues, type EmailRow, type Emails, emailJobs, emailLife } from '../emails/service.ts';
import type { Listeners } from './listeners.ts';

type Of = Pick<Release, 'project_id'>;

interface HeldMailDeps {
  database: Database;
  emails: Pick<Emails, 'release' | 'takeBack'>;
  objects: { releaseBytes(public_ids: readonly string[]): Promise<void> };
  listeners: Listeners;
  /** Takes a mail back whose recipient is to get nothing more. */
  withhold(tx: Tx, id: string): void;
}

export class HeldMail {
  constructor(private readonly deps: HeldMailDeps) {}

  /** Has all leave that is still held, as if it had waited. Returns how many. */
  async letGo(of: Of): Promise<number> {
    const { database } = this.deps;
    const bulk = await inPieces(database, bulkQueues.listHeld(database.read, of), (tx, id) =>
      this.#letGo(tx, id),
    );
    return bulk + (await releaseJobs(database, emailJobs.type, of));
  }

  /** What of its sequence or broadcast is paused for another reason waits until that is resumed. */
  #letGo(tx: Tx, id: string): boolean {
    const { emails, listeners, withhold } = this.deps;
    const held = findHeldBulk(tx, id);
    if (!held) return false;
    const decision = listeners.decideSend(tx, held.email);
    if (decision === 'cancel') withhold(tx, id);
    else if (decision === 'hold') emailLife.wait(tx, id, HELD);
    else emails.release(tx, id, held.due_at);
    return true;
  }

  /** Cancels what was due until a moment, or was tried before. Returns how many. */
  async drop(of: Of & { done_until: number }): Promise<number> {
    const { database, objects } = this.deps;
    const unpinned: string[] = [];
    const end = (tx: Tx, email: EmailRow, due_at: number): boolean => {
      if (email.attempts === 0 && due_at > of.done_until) return false;
      this.#end(tx, email, due_at);
      unpinned.push(...email.attachments.map(({ public_id }) => public_id));
      return true;
    };
    const bulk = await inPieces(database, bulkQueues.listHeld(database.read, of), (tx, id) => {
      const held = findHeldBulk(tx, id);
      return held !== null && end(tx, held.email, held.due_at);
    });
    const others = await inPieces(database, listHeldJobs(database.read, emailJobs.type, of), (tx, id) => {
      const held = findHeldJob(tx, id);
      const email = held && emailLife.find(tx, emailJobs.emailOf(held.job));
      return held !== null && email !== null && end(tx, email, held.due_at);
    });
    if (unpinned.length > 0) await objects.releaseBytes(unpinned);
    return bulk + others;
  }

  /** Whoever waits for its end goes on from when it was due; nobody outside is told. */
  #end(tx: Tx, email: EmailRow, due_at: number): void {
    const { emails, listeners } = this.deps;
    const ending = { status: 'canceled', error: COUNTS_AS_DONE } as const;
    emails.takeBack(tx, email, { ending, error: COUNTS_AS_DONE });
    const at = due_at > 0 ? due_at : email.created_at;
    listeners.tell(tx, email, { kind: 'dropped', address: email.to_email, at });
  }
}

/** Bulk mail that a restore holds, and when it was due; null for any other. */
function findHeldBulk(tx: Tx, id: string): { email: EmailRow; due_at: number } | null {
  const email = emailLife.find(tx, id);
  return email?.due_at != null && isHeldByRestore(email.due_at)
    ? { email, due_at: email.due_at - HELD_FROM }
    : null;
}
