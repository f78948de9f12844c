/** Which bytes of deleted objects must stay: those of mails that are not out yet. */
import type { Tx } from '../../platform/database/database.ts';
import { isPinned } from './life-store.ts';

export class AttachmentPins {
  isPinned(tx: Tx, object_public_id: string): boolean {
    return isPinned(tx, object_public_id);
  }
}
