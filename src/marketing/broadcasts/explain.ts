/** Broadcasts as sentences: why one paused by itself, and what an address gets and got of them. */
import type { Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import { explainHold } from '../../platform/jobs/restore-hold.ts';
import { explainBrake } from '../campaign-life.ts';
import type { CampaignDeps } from '../campaigns.ts';
import type { ContactRow } from '../contacts/service.ts';
import { ended, listOfContact, turnsAmong } from './recipient-store.ts';
import { statusOf, WORDS_OF_REASON } from './records.ts';
import { rows } from './store.ts';
import type { BroadcastRow, RecipientRow } from './tables.ts';

/** Broadcasts that are told of one contact: some years of them. */
const MAX_TOLD = 100;

type ExplainDeps = Pick<CampaignDeps, 'database' | 'contacts' | 'marketing'>;

/** Why a broadcast paused that nobody paused by hand. */
export function explainPause(
  { database, marketing }: ExplainDeps,
  row: BroadcastRow,
  words: string | null,
): string {
  const { read } = database;
  if (row.pause_reason === 'restored') return explainHold(read);
  if (row.pause_reason === 'late' && row.tested_at !== null)
    return `its A/B was to be decided ${toIso(row.decides_at)}, when the server did not run or its project was inactive. A resume decides it by the clicks, and sends the rest.`;
  if (row.pause_reason === 'late')
    return `its time was ${toIso(row.send_at)}, when the server did not run or its project was inactive, and it is not sent a day later by itself.`;
  if (row.pause_reason === 'not_ready')
    return `it could not be sent when its time came. What is missing: satchel broadcast check ${row.public_id}`;
  const last = { returned: ended.countReturned(read, row), refused: ended.countRefused(read, row) };
  return explainBrake(row.pause_reason, last, marketing.settings(row.project_id), words);
}

/**
 * What an address gets of a project's broadcasts, then what it got, and what it did not get and why: contact by contact, a sentence
 * a line.
 */
export function* explainAddress(
  { database, contacts }: ExplainDeps,
  project_id: number,
  email: string,
): Generator<string[]> {
  const of_address = contacts.rowsOfAddress(database.read, { project_id, email });
  for (const contact of of_address)
    yield rows
      .listOpenOfList(database.read, contact.list_id)
      .filter((row) => contact.id <= (row.last_contact_id ?? contact.id))
      .filter((row) => !turnsAmong(database.read, row.id, [contact.id]).has(contact.id))
      .map(explainComing);
  for (const contact of of_address)
    yield turnsOf(database.read, contact).map(({ broadcast, recipient }) =>
      explainTurn(broadcast, recipient),
    );
}

/** The turns that a contact had, the newest first. */
export function turnsOf(
  read: Tx,
  contact: ContactRow,
): { broadcast: BroadcastRow; recipient: RecipientRow }[] {
  return listOfContact(read, contact, MAX_TOLD);
}

function explainComing({ name, status, send_at }: BroadcastRow): string {
  if (status === 'scheduled') return `The broadcast ${name} comes ${toIso(send_at)}.`;
  return `The broadcast ${name} is ${status}, and its turn comes.`;
}

function explainTurn({ name }: BroadcastRow, turn: RecipientRow): string {
  if (turn.reason !== null) return `The broadcast ${name}: nothing, ${WORDS_OF_REASON[turn.reason]}.`;
  const marks = [
    statusOf(turn) + (turn.ended_at === null ? '' : ` ${toIso(turn.ended_at)}`),
    ...(turn.clicked_at === null ? [] : [`clicked ${toIso(turn.clicked_at)}`]),
    ...(turn.replied_at === null ? [] : [`answered ${toIso(turn.replied_at)}`]),
    ...(turn.unsubscribed_at === null ? [] : [`unsubscribed ${toIso(turn.unsubscribed_at)}`]),
  ];
  const more = turn.email_id === null ? '' : ` More: satchel email why ${turn.email_id}`;
  return `The broadcast ${name}: ${marks.join(', ')}.${more}`;
}
