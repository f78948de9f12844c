/** What `satchel mailbox test` sends. */
import { newId } from '../../platform/host/ids.ts';
import type { MailContent } from '../../platform/mail/types.ts';
import type { Outlet } from './outlets.ts';

export function testMessage(
  outlet: Pick<Outlet, 'address' | 'dkim'>,
  to: string,
  now_ms: number,
): MailContent {
  return {
    message_id: `<${newId(now_ms).toLowerCase()}@${outlet.address.split('@')[1]}>`,
    date_ms: now_ms,
    from: { address: outlet.address, name: null },
    to: { address: to, name: null },
    cc: [],
    bcc: [],
    reply_to: null,
    subject: 'A test message from Satchel',
    html: null,
    text: `This message was sent by "satchel mailbox test".\n\nThe mailbox ${outlet.address} works.\n`,
    attachments: [],
    dkim: outlet.dkim,
  };
}
