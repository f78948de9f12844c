/**
 * Replies: what comes back to a mail from whoever got it. A person's is kept and told of, a machine's is
 * noted.
 */

import { SWEEP_BATCH } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { dateTime, named, type Static, t, ulid } from '../../platform/http/schema.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import type { MailReply } from '../../platform/mail/mail-replies.ts';
import { type EmailRow, type Emails, emailLife, isBulk, sentMails } from '../emails/service.ts';
import * as store from './store.ts';
import type { ReplyRow } from './tables.ts';

/** What is told of a mail's reply in the order in which they came; without its text. */
export type NotedReply = ReturnType<typeof store.listNoted>[number];

/** A person answered a mail. */
export interface Answered {
  email: EmailRow;
  reply: ReplyRecord;
  /** It came from the address that the mail went to. */
  is_recipient: boolean;
  received_at: number;
}
export type AnsweredListener = (tx: Tx, answered: Answered) => void;

/** Contract. */
export const REPLY_RETENTION_MS = 90 * 86_400_000;
/**
 * Decision: whoever knows a mail's Message-ID may answer it without end; so many of people and of machines
 * each are noted.
 */
export const MAX_REPLIES_PER_EMAIL = 100;
/** `contact why` tells of so many. */
const MAX_TOLD = 10;

export class Replies {
  readonly #listeners: AnsweredListener[] = [];

  constructor(private readonly deps: { database: Database; clock: Clock; emails: Pick<Emails, 'get'> }) {}

  /** Has something told of each reply of a person, in the transaction that records it. */
  listen(listener: AnsweredListener): void {
    this.#listeners.push(listener);
  }

  /**
   * The mail that a domain sent and that the first of these Message-IDs names which names one; of a message
   * to several recipients that of `from`, else the first. Null where there is none, as for one that was
   * forgotten.
   */
  findAnswered(
    read: Tx,
    message_ids: readonly string[],
    { domain, from }: { domain: string; from: string | null },
  ): EmailRow | null {
    for (const message_id of message_ids) {
      const sent = sentMails
        .listByMessageId(read, message_id)
        .filter((email) => email.domain === domain && email.attempts > 0 && email.to_email !== '');
      const own = sent.find(({ to_email }) => to_email.toLowerCase() === from?.toLowerCase()) ?? sent[0];
      if (own) return own;
    }
    return null;
  }

  /**
   * Notes a reply to a mail that `domain` sent, and tells of a person's. Null where it answers none, where we
   * wrote it ourselves, or where there were MAX_REPLIES_PER_EMAIL of its kind; what came before changes
   * nothing.
   */
  take(
    tx: Tx,
    reply: MailReply,
    { domain, arrived_at }: { domain: string; arrived_at: number | null },
  ): { email_id: string } | null {
    const { from, subject, text, is_automatic, digest } = reply;
    const email = this.findAnswered(tx, reply.answers, { domain, from });
    if (!email) return null;
    const { id: email_id, project_id } = email;
    const is_recipient = from.toLowerCase() === email.to_email.toLowerCase();
    // A list sends our own mail back, and a colleague's answer to a customer names our mail too.
    const is_own = !is_recipient && from.toLowerCase() === email.from_email.toLowerCase();
    if (is_own || (reply.message_id !== null && sentMails.listByMessageId(tx, reply.message_id).length > 0))
      return null;
    if (store.countReplies(tx, email_id, is_automatic) >= MAX_REPLIES_PER_EMAIL) return null;
    const now_ms = this.deps.clock.now();
    // When the server got it, as far as that can be.
    const received_at = Math.min(Math.max(arrived_at ?? now_ms, email.created_at), now_ms);
    const row = {
      project_id,
      email_id,
      digest,
      is_automatic,
      from_email: from,
      subject,
      text: is_automatic ? null : text,
      received_at,
    };
    if (store.insertReply(tx, row) === 0 || is_automatic) return { email_id };
    sentMails.noteReply(tx, email_id, received_at);
    const answered = { email, reply: present(row), is_recipient, received_at };
    for (const listener of this.#listeners) listener(tx, answered);
    return { email_id };
  }

  /**
   * What people answered to a mail, newest first. Throws AppError `not_found`, for another project's email
   * too.
   */
  list(project: { id: number; public_id: string }, email_id: string, query: PageQuery): Page<ReplyRecord> {
    const { id } = this.deps.emails.get(project, email_id);
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countReplies(read, id, false),
      fetch: (limit, offset) => store.listPersonal(read, { email_id: id, limit, offset }),
    }).map(present);
  }

  /** For a mail's story. */
  listNoted(read: Tx, email_id: string): NotedReply[] {
    return store.listNoted(read, email_id);
  }

  /** What an address answered to mails that are no marketing, the last ones, one sentence a line. */
  explainAddress(project_id: number, email: string): string[] {
    const { read } = this.deps.database;
    return store.listLastFrom(read, { project_id, email, limit: MAX_TOLD }).flatMap((reply) => {
      const source = emailLife.find(read, reply.email_id)?.source;
      if (source === undefined || isBulk(source)) return [];
      return [
        `It answered a mail ${toIso(reply.received_at)}: ${reply.subject}. More: satchel email why ${reply.email_id}`,
      ];
    });
  }

  /** What replies hold about an address: those that it wrote, and those to its mails. */
  holderOfAddresses(): AddressHolder {
    const { database } = this.deps;
    const thingOf = (id: number) => ({
      show: () => {
        const row = store.findReply(database.read, id);
        return row ? present(row) : null;
      },
      forget: (tx: Tx) => store.deleteReply(tx, id),
    });
    return {
      name: 'replies',
      *find({ id: project_id }, email) {
        for (let behind = 0; ; ) {
          const ids = store.listIdsFrom(database.read, { project_id, email, behind });
          const last = ids.at(-1);
          if (last === undefined) break;
          behind = last;
          yield ids.map(thingOf);
        }
        for (const email_ids of sentMails.idsOfAddress(database, { project_id, email }))
          yield store.listIdsOfOthers(database.read, { email_ids, email }).map(thingOf);
      },
    };
  }

  /** Forgets replies whose time is over. */
  async sweep(): Promise<void> {
    const { database, clock } = this.deps;
    const before = clock.now() - REPLY_RETENTION_MS;
    const limit = SWEEP_BATCH;
    while ((await database.writePiece((tx) => store.deleteBefore(tx, before, limit))) === limit) {}
  }
}

function present(row: Omit<ReplyRow, 'id'>): ReplyRecord {
  const { email_id: email, from_email: from, subject, text, received_at } = row;
  return { email, from, subject, text: text ?? '', received_at: toIso(received_at) };
}

export const replyRecord = named(
  'EmailReply',
  t.Object({
    email: ulid(),
    from: t.String({ description: 'The address in its From: whoever wrote it may have put any there.' }),
    subject: t.String(),
    text: t.String({ description: 'Without what it quotes, and cut at 64 KB.' }),
    received_at: dateTime(),
  }),
);
export type ReplyRecord = Static<typeof replyRecord>;
