/**
 * What sequences and broadcasts share once they go out: pausing, resuming, jobs, and what becomes of their
 * mails.
 */
import type { ProjectEvent } from '../access/projects/service.ts';
import { BOUNCE_WINDOW_SENDS, REFUSALS_TO_PAUSE } from '../limits.ts';
import type { EmailEvent, SendDecision } from '../mail/deliveries/service.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import type { Tx } from '../platform/database/database.ts';
import type { JobRow } from '../platform/database/tables.ts';
import type { Actor } from '../platform/http/callers.ts';
import { WHOLE_LIST } from '../platform/http/pagination.ts';
import { AT_ONCE, findJob, type NewJob, PRIORITY } from '../platform/jobs/store.ts';
import type { CampaignRow, Ended, EndedStore, PauseReason } from './campaign-store.ts';
import type { CampaignDeps, Campaigns } from './campaigns.ts';
import { barOf, type ContactRow, type ContactStanding } from './contacts/service.ts';
import { lastMailsTo, type Reading, readAt } from './mails/service.ts';
import { type KeyOwner, nextOpening, type Settings } from './settings/service.ts';

/** What is noted of a mail: each the column that keeps when it happened. */
type Mark =
  | ReturnType<typeof readAt>
  | { refused_at: number }
  | { bounced_at: number }
  | { complained_at: number }
  | { unsubscribed_at: number | null };

/** `Mail` is the row of a mail, or of whom it was for. */
export abstract class CampaignLife<
  Mail extends { unsubscribed_at: number | null },
  Deps extends CampaignDeps,
> {
  protected abstract readonly campaigns: Pick<
    Campaigns<CampaignRow, unknown, never>,
    'what' | 'rows' | 'require' | 'refuseFrom' | 'ownerOf'
  >;
  /** What it is while its mails go out: `active`. */
  protected abstract readonly running: readonly string[];
  /** What its project's move to another Satchel pauses. */
  protected abstract readonly paused_by_move: readonly string[];
  /** What it is once nothing more of it may go out. */
  protected abstract readonly stopped: string;
  /** The type of its jobs. */
  protected abstract readonly job_type: string;
  protected readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  /**
   * The ids of its mails that wait for their relay: MAILS_AHEAD at most, and those that were queued again.
   */
  protected abstract listWaiting(read: Tx, id: number): string[];
  protected abstract findMail(read: Tx, email_id: string): Mail | null;
  protected abstract mark(tx: Tx, mail: Mail, mark: Mark): void;
  protected abstract rowOf(read: Tx, mail: Mail): CampaignRow | null;
  /** How the last mails of one ended, tests apart. */
  protected abstract readonly ended: EndedStore;

  /* --- Pausing and going on ----------------------------------------------------------------------------------------- */

  /**
   * Pauses it by hand. A sequence's delays run on. Throws AppError `not_found`, and `conflict` unless it goes
   * out.
   */
  pause(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { campaigns } = this;
    return this.deps.database.write((tx) => {
      const row = campaigns.require(owner.id, public_id, tx);
      campaigns.refuseFrom(row, this.running, 'paused');
      this.stop(tx, row, 'manual');
      campaigns.rows.update(tx, row.id, { updated_at: this.deps.clock.now() });
      this.audit(tx, actor, row, `${campaigns.what}.paused`);
    });
  }

  /** Pauses it, and holds its mails that wait. */
  protected stop(tx: Tx, row: CampaignRow, pause_reason: PauseReason): void {
    this.campaigns.rows.update(tx, row.id, { status: 'paused', pause_reason });
    for (const id of this.listWaiting(tx, row.id)) this.deps.emails.hold(tx, id);
  }

  /** Has mails that a pause held go on; like all mail they leave in the window. */
  protected release(tx: Tx, row: CampaignRow): void {
    const { marketing, emails, clock } = this.deps;
    const now = clock.now();
    const at = nextOpening(marketing.settings(row.project_id, tx), now);
    for (const id of this.listWaiting(tx, row.id)) emails.release(tx, id, at > now ? at : AT_ONCE);
  }

  /**
   * Pauses what goes out in a project that moved to another Satchel. Somebody resumes it where it is to go
   * on.
   */
  onProject(tx: Tx, { kind, project_id }: ProjectEvent): void {
    if (kind !== 'moved') return;
    for (const status of this.paused_by_move)
      for (const row of this.campaigns.rows.list(tx, { project_id, status }, WHOLE_LIST))
        this.stop(tx, row, 'moved');
  }

  /** The ids of those that are paused since their project moved. */
  listMoved(project_id: number): string[] {
    const { rows } = this.campaigns;
    const paused = rows.list(this.deps.database.read, { project_id, status: 'paused' }, WHOLE_LIST);
    return paused.flatMap(({ public_id, pause_reason }) => (pause_reason === 'moved' ? [public_id] : []));
  }

  /** Puts what was done to it on the audit trail. */
  protected audit(
    tx: Tx,
    actor: Actor,
    row: CampaignRow,
    event: string,
    facts: Record<string, unknown> = {},
  ): void {
    const target = `${this.campaigns.what}:${row.public_id}`;
    const project = this.campaigns.ownerOf(row.project_id);
    const metadata = { name: row.name, ...facts, ...(row.is_test ? { is_test: true } : {}) };
    recordAudit(tx, actor, { event, target, project, metadata }, this.deps.clock.now());
  }

  /* --- Its job ------------------------------------------------------------------------------------------------------ */

  protected enqueue(tx: Tx, row: CampaignRow, run_at: number): string {
    const job: NewJob = {
      project_id: row.project_id,
      type: this.job_type,
      priority: PRIORITY.marketing,
      resource: row.public_id,
      payload: { [`${this.campaigns.what}_id`]: row.id },
      max_attempts: 1,
      run_at,
    };
    return this.deps.enqueue(tx, job);
  }

  /** Its job, if that has not ended. */
  protected jobOf(read: Tx, { job_id }: CampaignRow): JobRow | null {
    const job = job_id === null ? null : findJob(read, job_id);
    return job?.status === 'pending' || job?.status === 'processing' ? job : null;
  }

  /* --- What it learns of its mails ----------------------------------------------------------------------------------- */

  /** Marks what became of a mail. Pauses one of which too much came back, or was refused because of us. */
  protected markEvent(
    tx: Tx,
    mail: Mail,
    { kind, is_refused, at }: Pick<EmailEvent, 'kind' | 'is_refused' | 'at'>,
  ): void {
    if (is_refused || kind === 'refused') {
      this.mark(tx, mail, { refused_at: at });
      this.#brake(tx, mail, 'relay_refuses', (row) => isRefusedTooMuch(this.ended.countRefused(tx, row)));
    } else if (kind === 'bounced' || kind === 'complained') {
      this.mark(tx, mail, kind === 'bounced' ? { bounced_at: at } : { complained_at: at });
      this.#brake(tx, mail, 'bounce_threshold', (row) =>
        returnsTooMuch(this.ended.countReturned(tx, row), this.deps.marketing.settings(row.project_id, tx)),
      );
    }
  }

  #brake(tx: Tx, mail: Mail, reason: PauseReason, isTooMuch: (row: CampaignRow) => boolean): void {
    const row = this.rowOf(tx, mail);
    if (row && this.running.includes(row.status) && !row.is_test && isTooMuch(row))
      this.stop(tx, row, reason);
  }

  /**
   * What becomes of a mail that was being tried when it paused or ended, or whoever it was for left, and that
   * the relay did not take. Mail that was only waiting then was held or taken back at that moment.
   */
  protected decideSendOf(
    tx: Tx,
    project_id: number,
    of: { row: CampaignRow | null; contact: ContactStanding | null },
  ): SendDecision {
    const { suppressions, projectOf } = this.deps;
    const { row, contact } = of;
    const owner = projectOf(project_id);
    if (!owner || !contact || !row || row.status === this.stopped) return 'cancel';
    if (barOf(contact, suppressions.checker(tx, owner)) !== null) return 'cancel';
    return row.status === 'paused' ? 'hold' : 'send';
  }

  /**
   * Marks the last mail that somebody got before they left; null where they took that back. It may be another campaign's: then
   * nothing is marked here. One that was with its relay as they left takes the mark from the one before, once it is sent.
   */
  markLeft(tx: Tx, contact: ContactRow, at: number | null): void {
    const [last, before] = lastMailsTo(tx, contact).map((id) => this.findMail(tx, id));
    if (before && before.unsubscribed_at === at) this.mark(tx, before, { unsubscribed_at: null });
    if (last) this.mark(tx, last, { unsubscribed_at: at });
  }

  /** Marks that a mail was opened, by a person or a machine, or a link of it followed by a person. */
  protected markReading(tx: Tx, { kind, email_id, at }: Reading): Mail | null {
    const mail = this.findMail(tx, email_id);
    if (mail) this.mark(tx, mail, readAt(kind, at));
    return mail;
  }
}

type Threshold = Pick<Settings, 'bounce_pause_threshold_percent'>;

export function returnsTooMuch(
  { sent, returned }: Ended['returned'],
  { bounce_pause_threshold_percent: percent }: Threshold,
): boolean {
  return sent >= BOUNCE_WINDOW_SENDS && (100 * returned) / sent > percent;
}

export function isRefusedTooMuch({ refused }: Pick<Ended['refused'], 'refused'>): boolean {
  return refused >= REFUSALS_TO_PAUSE;
}

/** Why sending paused by itself; `words` are what a mail server said that refused. */
export function explainBrake(
  reason: string | null,
  { returned: { sent, returned }, refused }: Ended,
  { bounce_pause_threshold_percent: percent }: Threshold,
  words: string | null,
): string {
  if (reason === 'relay_refuses') {
    const last = words === null ? '' : ` The last was told: ${words.replace(/\.?$/, '.')}`;
    return `of its last ${refused.ended} mails ${refused.refused} were refused because of the mailbox that they came from, not because of whom they were to.${last}`;
  }
  return `of its last ${sent} mails ${returned} bounced or were complained about, and bounce_pause_threshold_percent is ${percent}.`;
}

/** True while nobody resumed or ended one that a restore paused. */
export function isHeldByRestore({ status, pause_reason }: CampaignRow): boolean {
  return status === 'paused' && pause_reason === 'restored';
}
