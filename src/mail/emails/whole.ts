/** Messages that came whole: where the bytes of one are, and what it says. */
import { AppError } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type EmailContent, WHOLE_SOURCES } from './schemas.ts';
import { findMessage } from './store.ts';
import type { EmailRow } from './tables.ts';

/** The bytes of a message. */
export interface WholeRef {
  public_id: string;
  size_bytes: number;
}

/** They need files/objects, and a reader of messages. */
export interface WholeDeps {
  objects: {
    withFiles<T>(
      files: readonly WholeRef[],
      work: (paths: ReadonlyMap<string, string>) => Promise<T>,
    ): Promise<T>;
  };
  internal_objects: {
    find(read: Tx, public_id: string): WholeRef | null;
    readWhole(public_id: string): Promise<Blob | ReadableStream<Uint8Array>>;
  };
  viewer: {
    view(path: string): Promise<Pick<EmailContent, 'headers' | 'body_html' | 'body_text' | 'attachments'>>;
  };
}

/** Null for mail that came otherwise. Throws AppError `not_found` where the bytes are no longer kept. */
export function findWhole(
  tx: Tx,
  email: Pick<EmailRow, 'id' | 'source' | 'merge'>,
  { internal_objects }: Pick<WholeDeps, 'internal_objects'>,
): WholeRef | null {
  if (!WHOLE_SOURCES.includes(email.source) || email.merge !== null) return null;
  const message = findMessage(tx, email.id);
  const found = message === null ? null : internal_objects.find(tx, message);
  if (!found) throw new AppError('not_found', 'The message of the email is no longer kept.');
  return found;
}

/** The message as its reader would see it. Throws AppError `unavailable` where it can't be read now. */
export async function viewWhole(whole: WholeRef, { objects, viewer }: WholeDeps): Promise<EmailContent> {
  const view = await objects.withFiles([whole], (paths) => viewer.view(paths.get(whole.public_id) ?? ''));
  return { is_kept: true, ...view, size_bytes: whole.size_bytes };
}
