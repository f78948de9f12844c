/** What a contact can be, in the order of a life. */
import type { Contact } from '../../api.generated.ts';

export const STATUSES = [
  'pending',
  'active',
  'unsubscribed',
  'bounced',
  'complained',
] as const satisfies readonly Contact['status'][];
