/**
 * What happens to mail that is captured instead of delivered, and the simulator's addresses that act out an
 * outcome there.
 */
import { refusalAtRcpt, rejectedOutcome } from '../../platform/mail/smtp-replies.ts';
import type { DeliveryOutcome, RefusedRecipient } from '../../platform/mail/types.ts';

const SIMULATOR = 'simulator.satchel.test';

const SIMULATED: Readonly<Record<string, { smtp_code: number; response: string }>> = {
  bounce: { smtp_code: 550, response: '550 5.1.1 Simulated bounce: no such mailbox' },
  defer: { smtp_code: 451, response: '451 4.2.0 Simulated deferral: try again later' },
};

/** True where a captured mail to this address is complained about. */
export function isComplaintAddress(address: string): boolean {
  return address.toLowerCase() === `complaint@${SIMULATOR}`;
}

/** How a relay would have answered, had it been the simulator's. */
export function simulateDelivery(recipients: readonly string[]): DeliveryOutcome {
  const rejected = recipients.flatMap((address) => simulateRefusal(address) ?? []);
  const accepted = recipients.filter((address) => !rejected.some((one) => one.address === address));
  const [first] = rejected;
  if (accepted.length > 0 || !first) {
    return {
      outcome: 'sent',
      tls: null,
      smtp_code: 250,
      response: '250 Captured instead of sent',
      accepted,
      rejected,
    };
  }
  return rejectedOutcome(rejected, first);
}

function simulateRefusal(address: string): RefusedRecipient | null {
  const [local = '', domain] = address.toLowerCase().split('@');
  const simulated = domain === SIMULATOR && Object.hasOwn(SIMULATED, local) ? SIMULATED[local] : undefined;
  return simulated ? { address, ...refusalAtRcpt(simulated) } : null;
}
