/** Whether mail goes out from a mailbox, in words: paused, resting, refused, slowed, or nothing in the way. */
import type { Mailbox } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Status } from '../../components/status.tsx';

export function MailboxState({ of }: { of: Mailbox }) {
  return (
    <span class="badges">
      <Status of={of.state} tone={of.state === 'active' ? 'good' : 'warn'} />
      {of.pace?.allowed && <Status of={`slowed to ${of.pace.allowed}`} tone="warn" />}
      {of.pace?.waits_until && <Status of="waits" tone="warn" />}
      {of.refusal !== null && <Status of="refused" tone="bad" />}
      {of.kind === 'capture' && <Badge tone="accent">captures</Badge>}
    </span>
  );
}
