/** Tells in words whether mail goes out from a mailbox: paused, resting, refused, slowed, or nothing in the way. */
import type { Mailbox } from '../../api.generated.ts';
import { Count } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';

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

/** The part of its daily limit that a mailbox has used. */
export function UsedToday({ of }: { of: Pick<Mailbox, 'used_today' | 'daily_limit'> }) {
  const { used_today, daily_limit } = of;
  return (
    <>
      <Count of={used_today} />
      {daily_limit !== null && (
        <span class="muted">
          {' '}
          of <Count of={daily_limit} />
        </span>
      )}
    </>
  );
}
