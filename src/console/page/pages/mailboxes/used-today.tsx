/** How much of its daily limit a mailbox has used. */
import type { Mailbox } from '../../api.generated.ts';
import { Count } from '../../components/quantity.tsx';

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
