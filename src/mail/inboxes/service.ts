/** Inboxes: the IMAP folders in which reports about a mailbox's mail arrive, how far each was read, and how that goes. */

import { invalid } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { dateTime, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import { UNREAD_REASONS, type UnreadReason } from '../../platform/mail/report-files.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { describeInbox, type InboxAddress } from './address.ts';
import * as store from './store.ts';
import type { InboxRow } from './tables.ts';

export { type InboxAddress, inboxOf, parseInbox } from './address.ts';

export type { InboxRow } from './tables.ts';

/** UIDs that are remembered of messages that were passed over. */
const INBOX_SKIPPED_NAMED = 10;

/** Contract: of reports that could not be read, so many are named. */
const INBOX_UNREAD_NAMED = 20;

/** An inbox as the API, the shell and the console are shown it. */
export const inboxRecord = named(
  'Inbox',
  t.Object({
    address: t.String({ description: 'With its password masked.' }),
    reports: t.Integer({ description: 'Those that told something new since it was set.' }),
    skipped: t.Integer({ description: 'Messages that could not be fetched or read.' }),
    unread: t.Integer({ description: 'Reports of DMARC or TLS of which nothing could be read.' }),
    last_unread: t.Array(t.Object({ at: dateTime(), subject: t.String(), reason: oneOf(UNREAD_REASONS) }), {
      description: 'The last 20 of these, the newest first; `too_large` is past a bound.',
    }),
    last_look_at: nullable(dateTime()),
    last_error: nullable(t.String({ description: 'Why it cannot be read; null where it can.' })),
    last_error_at: nullable(dateTime()),
  }),
);
export type InboxRecord = Static<typeof inboxRecord>;

/** What became of a message: what it told of mails, or why the report that it is could not be read. */
export type Taken =
  | { told: readonly { is_new: boolean }[] }
  | { unread: { subject: string; reason: UnreadReason } };

interface InboxesDeps {
  database: Database;
  clock: Clock;
  key_ring: Pick<KeyRing, 'seal' | 'openText'>;
}

export class Inboxes {
  constructor(private readonly deps: InboxesDeps) {}

  /**
   * Gives a mailbox an inbox, or takes it away. One of the same account and folder is read on from where it was left, such as
   * with a new password; any other from its beginning. Without a password it keeps the one that is stored, which goes along to no
   * other host: throws AppError `invalid` where there is none.
   */
  set(tx: Tx, mailbox_id: number, inbox: InboxAddress | null): void {
    if (!inbox) {
      store.deleteInbox(tx, mailbox_id);
      return;
    }
    const { password, ...address } = inbox;
    const before = store.findInbox(tx, mailbox_id);
    const kept = before?.host === inbox.host ? before.sealed_password : null;
    if (password === null && kept === null)
      throw invalid({
        'inbox.password': [
          before ? 'is required with another host: the one that is stored goes to no other' : 'is required',
        ],
      });
    store.replaceInbox(tx, {
      ...(before && isSame(before, inbox) ? before : UNREAD),
      ...address,
      mailbox_id,
      version: newId(this.deps.clock.now()),
      sealed_password:
        password === null
          ? (kept ?? '')
          : this.deps.key_ring.seal(tx, PLATFORM_SCOPE, contextOf(mailbox_id), password),
      last_error: null,
      last_error_at: null,
    });
  }

  /** The inbox of a mailbox, for people to read. */
  find(read: Tx, mailbox_id: number): InboxRecord | null {
    const row = store.findInbox(read, mailbox_id);
    if (!row) return null;
    return {
      address: describeInbox(row),
      reports: row.reports,
      skipped: row.skipped,
      unread: row.unread,
      last_unread: row.last_unread.map(({ at, ...of }) => ({ at: toIso(at), ...of })),
      last_look_at: toIso(row.last_look_at),
      last_error: row.last_error,
      last_error_at: toIso(row.last_error_at),
    };
  }

  listRows(): InboxRow[] {
    return store.listInboxes(this.deps.database.read);
  }

  /** The password of an inbox; null where it does not decrypt. */
  passwordOf(row: Pick<InboxRow, 'mailbox_id' | 'sealed_password'>): string | null {
    const { database, key_ring } = this.deps;
    return key_ring.openText(database.read, row.sealed_password, contextOf(row.mailbox_id));
  }

  /** Mailboxes whose inbox's password does not decrypt. */
  listUndecryptable(): number[] {
    return this.listRows().flatMap((row) => (this.passwordOf(row) === null ? [row.mailbox_id] : []));
  }

  /* --- What readers note ------------------------------------------------------------------------------------------- */

  /**
   * Where to read on in a folder: from its beginning where its UIDs are others than before (RFC 3501 2.3.1.1). Null where
   * the inbox was set anew, or is gone.
   */
  async open(
    inbox: InboxRow,
    uid_validity: string,
  ): Promise<Pick<InboxRow, 'last_uid' | 'unflagged'> | null> {
    return this.deps.database.write((tx) => {
      const row = store.findInbox(tx, inbox.mailbox_id);
      if (row?.version !== inbox.version) return null;
      if (row.uid_validity === uid_validity) return row;
      const unseen = { skipped: 0, last_skipped: [], unread: 0, last_unread: [] };
      const anew = { uid_validity, last_uid: 0, unflagged: [], ...unseen };
      store.updateInbox(tx, inbox, anew);
      return anew;
    });
  }

  /**
   * Notes in the transaction of what it did that a message was looked at; `taken` where it was a report: one that is believed gets the
   * flag, one that could not be read is named. False where the inbox was set anew, or is gone.
   */
  noteMessage(tx: Tx, inbox: InboxRow, { uid, taken }: { uid: number; taken: Taken | null }): boolean {
    const row = store.findInbox(tx, inbox.mailbox_id);
    if (row?.version !== inbox.version) return false;
    if (taken && 'unread' in taken) {
      const last_unread = [{ at: this.deps.clock.now(), ...taken.unread }, ...row.last_unread];
      const named = last_unread.slice(0, INBOX_UNREAD_NAMED);
      return store.updateInbox(tx, inbox, { last_uid: uid, unread: row.unread + 1, last_unread: named });
    }
    const reports = row.reports + (taken?.told.some(({ is_new }) => is_new) ? 1 : 0);
    const unflagged = taken ? [...row.unflagged, uid] : row.unflagged;
    return store.updateInbox(tx, inbox, { last_uid: uid, unflagged, reports });
  }

  /** Notes that a message was passed over. False where the inbox was set anew, or is gone. */
  async noteSkipped(inbox: InboxRow, uid: number): Promise<boolean> {
    const skipped_now = { uid, at: this.deps.clock.now() };
    return this.deps.database.write((tx) => {
      const row = store.findInbox(tx, inbox.mailbox_id);
      if (row?.version !== inbox.version) return false;
      const last_skipped = [...row.last_skipped, skipped_now].slice(-INBOX_SKIPPED_NAMED);
      return store.updateInbox(tx, inbox, { last_uid: uid, skipped: row.skipped + 1, last_skipped });
    });
  }

  /** Notes that messages have their flag, or can't have one. */
  async noteFlagged(inbox: InboxRow): Promise<void> {
    await this.deps.database.write((tx) => store.updateInbox(tx, inbox, { unflagged: [] }));
  }

  /** Notes that an inbox was read to its end. */
  async noteLook(inbox: InboxRow): Promise<void> {
    const changes = { last_look_at: this.deps.clock.now(), last_error: null, last_error_at: null };
    await this.deps.database.write((tx) => store.updateInbox(tx, inbox, changes));
  }

  async noteFailure(inbox: InboxRow, last_error: string): Promise<void> {
    const changes = { last_error, last_error_at: this.deps.clock.now() };
    await this.deps.database.write((tx) => store.updateInbox(tx, inbox, changes));
  }
}

const UNREAD = {
  uid_validity: null,
  last_uid: 0,
  unflagged: [],
  reports: 0,
  skipped: 0,
  last_skipped: [],
  unread: 0,
  last_unread: [],
  last_look_at: null,
};

/** Where another folder goes by the same name now, its UIDs tell. */
function isSame(before: InboxRow, inbox: InboxAddress): boolean {
  const { host, username, folder } = before;
  return host === inbox.host && username === inbox.username && folder === inbox.folder;
}

/** The context that binds a sealed password to its inbox. */
function contextOf(mailbox_id: number): string[] {
  return ['inbox', String(mailbox_id), 'imap_password'];
}
