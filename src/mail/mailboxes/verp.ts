/**
 * Whether the mails of a mailbox get a return path of their own each (VERP), and why they do not where they
 * should.
 */

import { invalid } from '../../errors.ts';
import { MAX_LOCAL_PART_CHARS } from '../../limits.ts';
import type { MailboxRow } from './tables.ts';

/**
 * Leaves room for what makes a return path one mail's own: a plus sign, an id of 26, a dot and a code of 20.
 */
export const MAX_VERP_LOCAL_PART_CHARS = MAX_LOCAL_PART_CHARS - 48;

type Base = Pick<MailboxRow, 'address' | 'return_path'>;

const NO_ROOM = `needs a return path of at most ${MAX_VERP_LOCAL_PART_CHARS} characters before the @, as each mail adds its own behind them`;

export function verpOf(
  mailbox: Base & Pick<MailboxRow, 'verp' | 'verp_refusal'>,
  has_inbox: boolean,
): { verp: boolean; verp_problem: string | null } {
  if (!(mailbox.verp ?? has_inbox)) return { verp: false, verp_problem: null };
  const { verp_refusal } = mailbox;
  const refused = verp_refusal === null ? null : `its relay refused one: ${verp_refusal}`;
  const verp_problem = hasRoom(mailbox) ? refused : `that ${NO_ROOM}.`;
  return { verp: verp_problem === null, verp_problem };
}

/** The address that return paths are made from; null where mails get none. */
export function verpBaseOf(mailbox: Parameters<typeof verpOf>[0], has_inbox: boolean): string | null {
  return verpOf(mailbox, has_inbox).verp ? baseOf(mailbox) : null;
}

/** Throws AppError `invalid`. */
export function requireRoom(mailbox: Base): void {
  if (!hasRoom(mailbox)) throw invalid({ verp: [NO_ROOM] });
}

function hasRoom(mailbox: Base): boolean {
  return baseOf(mailbox).lastIndexOf('@') <= MAX_VERP_LOCAL_PART_CHARS;
}

function baseOf({ return_path, address }: Base): string {
  return return_path ?? address;
}
