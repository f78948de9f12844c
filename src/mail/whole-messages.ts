/** Messages that apps hand in whole, by SMTP or by the API of another product: what they may go out from, and their file. */
import { AppError } from '../errors.ts';
import type { Tx } from '../platform/database/database.ts';
import type { KeyCaller } from '../platform/http/callers.ts';
import type { EmailSource, Emails, NewEmail } from './emails/service.ts';

/** Addresses that the refusal of another From names. */
const SENDERS_NAMED = 5;
export const WRONG_SENDER = 'wrong_sender';

/** A message on the disk, under its id. */
export interface MessageFile {
  id: string;
  size_bytes: number;
  /** Hex. */
  sha256: string;
}

/** What these messages need of files/objects. */
export interface MessageStore {
  keep(files: readonly ReturnType<typeof messageFile>[], within: (tx: Tx) => void): Promise<void>;
}

/** The object that a message is kept as. */
export function messageFile({ id, size_bytes, sha256 }: MessageFile, { project_id }: { project_id: number }) {
  const mime_type = 'message/rfc822';
  return { public_id: id, project_id, original_filename: `${id}.eml`, mime_type, size_bytes, sha256 };
}

/** A mail of a message: each recipient has one. */
export function wholeMail(
  mail: Pick<
    NewEmail,
    'source' | 'to' | 'to_name' | 'from' | 'from_name' | 'reply_to' | 'subject' | 'scheduled_at' | 'call_id'
  >,
  { id, message_id }: { id: string; message_id: string },
  { project_id, key_id, is_test }: Pick<KeyCaller, 'project_id' | 'key_id' | 'is_test'>,
): NewEmail {
  return {
    ...mail,
    project_id,
    api_key_id: key_id,
    is_test,
    cc: [],
    bcc: [],
    content: { whole: { object_id: id, message_id } },
    template: null,
    domain: null,
    attachments: [],
    client: null,
  };
}

/** The mailbox that From names. Throws AppError `invalid` (`wrong_sender`), which says what From may be, where it is no mailbox that the mail may go out from. */
export function requireSender(
  emails: Pick<Emails, 'sendersOf'>,
  { project_id, source, from }: { project_id: number; source: EmailSource; from: string | null },
): string {
  const senders = emails.sendersOf(project_id, source);
  const found = senders.find((sender) => sender.toLowerCase() === from?.toLowerCase());
  if (found !== undefined) return found;
  const some = senders.slice(0, SENDERS_NAMED).join(', ');
  const more = senders.length > SENDERS_NAMED ? ', ...' : '';
  const which = senders.length === 0 ? 'This project has none.' : `Those are: ${some}${more}.`;
  throw new AppError(
    'invalid',
    `From must hold the address of one active mailbox that this key may send from, and nothing else. ${which}`,
    { code: WRONG_SENDER },
  );
}
