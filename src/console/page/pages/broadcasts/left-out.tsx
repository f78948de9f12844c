/** Who on the list gets no mail, and why, in words. */
import type { LeftOut } from '../../api.generated.ts';
import { Facts } from '../../components/facts.tsx';
import { Count } from '../../components/quantity.tsx';

type Reason = keyof LeftOut['by_reason'];

const WORDS: Readonly<Record<Reason, string>> = {
  unsubscribed: 'unsubscribed',
  suppressed: 'address suppressed',
  bounced: 'mail came back before',
  complained: 'complained before',
  pending: 'has not confirmed',
  paused: 'has paused the mail it gets',
  filter: 'does not fit the filter',
  no_value: 'no value for a field of the mail',
};

/** A reason as the API has it; what else it says, such as a server's refusal, stays as it is. */
export function tellReason(reason: string): string {
  return Object.hasOwn(WORDS, reason) ? WORDS[reason as Reason] : reason;
}

/** How many for each reason that there is. */
export function LeftOutFacts({ of: { by_reason } }: { of: LeftOut }) {
  const found = Object.entries(by_reason).filter(([, people]) => people > 0);
  if (found.length === 0) return null;
  return (
    <Facts
      of={found.map(([reason, people]) => [tellReason(reason), <Count key={reason} of={people} />] as const)}
    />
  );
}
