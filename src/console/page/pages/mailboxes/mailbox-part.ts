/** What the parts of a mailbox's page are given. */
import type { MailboxDetails } from '../../api.generated.ts';

export interface MailboxPartProps {
  of: MailboxDetails;
  /** The version that is shown. */
  etag: string | null;
  onChange(): void;
}
