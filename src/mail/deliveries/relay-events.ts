/** What providers of relays tell of single mails: whose each event is, and what it means. It is taken as a report is. */

import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { judgeReply, plainWords } from '../../platform/mail/mail-reports.ts';
import { type EmailRow, emailLife, sentMails } from '../emails/service.ts';
import { type EventKind, PROVIDERS, type Teller, type ToldEvent } from '../relay-events/service.ts';
import { attemptsOf, recipientsOf } from './beginning.ts';
import type { Listeners } from './listeners.ts';
import { report } from './reports.ts';
import type { ReturnPaths } from './return-paths.ts';
import type { ReportKind } from './tables.ts';

interface Events {
  return_paths: Pick<ReturnPaths, 'emailOfEvent'>;
  now_ms: number;
}

/** Contract: of an event that has nothing of ours, the mail is looked for among those of so many days. */
const LOOKED_FOR_MS = 30 * DAY_MS;

/** Shorter ones would stand in many an answer. */
const ANSWER_ID = /^[\w-]{8,100}$/;

/** Of these the words of the receiving server say what they are. */
const FAILURES: readonly EventKind[] = ['hard', 'soft', 'ours'];

const KINDS: Readonly<Record<EventKind, ReportKind>> = {
  hard: 'bounced',
  soft: 'soft_bounced',
  complaint: 'complained',
  ours: 'refused',
  delivered: 'delivered',
  unsubscribed: 'unsubscribed',
};

/**
 * Takes an event; it changes nothing where its mail is none of ours. False where that is with its relay, and
 * its answer not on record yet: then it is to be taken again.
 */
export function takeEvent(
  tx: Tx,
  told: ToldEvent,
  by: Teller,
  on: Events & { listeners: Listeners },
): boolean {
  const email = findMeant(tx, told, by, on);
  if (!email) return true;
  if (email.status === 'sending') return false;
  const { kind, address, said, status } = told;
  const at = Math.max(0, Math.min(told.at ?? on.now_ms, on.now_ms));
  const judged = FAILURES.includes(kind) ? judgeReply(said, status) : null;
  const own = { kind: KINDS[kind], smtp_code: null, words: plainWords(told.words) || kind };
  const { kind: means, smtp_code, words } = judged ?? own;
  const evidence = { address, smtp_code, words: `${words} (reported by ${PROVIDERS[by.provider].label})` };
  report(tx, { email_id: email.id, kind: means, evidence, at }, on.listeners);
  return true;
}

/** The mail that an event is about; null for none of ours, and for one that others are to tell of. */
function findMeant(tx: Tx, told: ToldEvent, by: Teller, on: Events): EmailRow | null {
  const isMeant = (email: EmailRow): boolean =>
    by.mailboxes.includes(email.mailbox_id ?? 0) &&
    recipientsOf(email).some((recipient) => recipient.toLowerCase() === told.address.toLowerCase());
  return candidatesOf(tx, told, by, on).find(isMeant) ?? null;
}

function candidatesOf(
  tx: Tx,
  { code, message_id, sent, address }: ToldEvent,
  { is_signed, mailboxes }: Teller,
  { return_paths, now_ms }: Events,
): EmailRow[] {
  const byId = (id: string | null | undefined): EmailRow[] => {
    const email = id ? emailLife.find(tx, id) : null;
    return email ? [email] : [];
  };
  if (code !== '') return byId(return_paths.emailOfEvent(tx, code));
  if (!is_signed) return [];
  if (message_id !== '') return sentMails.listByMessageId(tx, `<${message_id.replace(/^<|>$/g, '')}>`);
  if (!sent || !ANSWER_ID.test(sent.answer_id)) return [];
  const since_ms = now_ms - LOOKED_FOR_MS;
  const all = sentMails.listToOne(tx, address, { since_ms, mailboxes });
  // One that is under way may yet be answered so.
  const meant =
    all.find((email) => isAnsweredBy(tx, email, sent.answer_id)) ??
    all.find(({ status }) => status === 'sending') ??
    all.find(({ subject }) => subject === sent.subject);
  return meant ? [meant] : [];
}

/** Whether a relay's answer to a mail held an id; in the log a bounce's words have taken its place. */
function isAnsweredBy(tx: Tx, email: EmailRow, id: string): boolean {
  const answers = email.bounced_at === null ? [email] : [email, ...attemptsOf(tx, email)];
  return answers.some(({ smtp_response }) => smtp_response?.includes(id));
}
