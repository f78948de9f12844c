/** What `sequence why` and `contact why` are told from, as the rows stand now. */

import type { Emails } from '../../mail/emails/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, utcDay } from '../../platform/host/clock.ts';
import type { ContactRow } from '../contacts/service.ts';
import { type Marketing, readUsage } from '../settings/service.ts';
import * as rows from './enrollment-store.ts';
import type { SequenceRow } from './tables.ts';
import { type Ended, tellEnrollment, type Waits } from './telling.ts';

export interface WhyDeps {
  database: Database;
  clock: Clock;
  marketing: Marketing;
  emails: Pick<Emails, 'errorOf'>;
}

/** What a contact gets and got of these sequences, and of all others that it is in where that is asked for. */
export function tellContact(
  deps: WhyDeps,
  contact: ContactRow,
  { sequences, with_others }: { sequences: readonly SequenceRow[]; with_others: boolean },
): string[] {
  const { read } = deps.database;
  const waits = waitsOf(deps, contact.project_id);
  const enrolled = rows.listOfContact(read, contact.id);
  const isOneOf = (row: SequenceRow): boolean => sequences.some(({ id }) => id === row.id);
  const told = enrolled
    .filter(({ sequence }) => with_others || isOneOf(sequence))
    .map(({ enrollment, sequence }) => {
      const mails = rows
        .listMailsOf(read, enrollment.id)
        .map((mail) => ({ ...mail, error: deps.emails.errorOf(read, mail.email_id) }));
      return tellEnrollment(enrollment, sequence, { mails, waits });
    });
  const never = sequences.filter(({ id }) => !enrolled.some(({ sequence }) => sequence.id === id));
  return [
    ...told.flat(),
    ...never.map(
      ({ name }) =>
        `${contact.email} was never enrolled in the sequence ${name}, and gets nothing of it; it is ${contact.status} on the list.`,
    ),
  ];
}

export function waitsOf({ database, marketing, clock }: WhyDeps, project_id: number): Waits {
  const now_ms = clock.now();
  const used_today = readUsage(database.read, project_id, utcDay(now_ms));
  const have_links_a_place = marketing.problemOfLinks(project_id) === null;
  return { settings: marketing.settings(project_id), have_links_a_place, used_today, now_ms };
}

export function endedOf(read: Tx, row: SequenceRow): Ended {
  return { returned: rows.countReturned(read, row), refused: rows.countRefused(read, row) };
}
