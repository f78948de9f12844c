/** Whether a webhook is told anything, and why not. */
import type { Webhook } from '../../api.generated.ts';
import { Status } from '../../components/status.tsx';

export function WebhookState({ of }: { of: Webhook }) {
  if (of.is_active) return <Status of="active" />;
  return of.disabled_reason ? <Status of="switched_off" tone="bad" /> : <Status of="off" />;
}

/** What switched it off, where nobody did. */
export const WHY_OFF = {
  gone: 'It was switched off because its receiver answered 410, gone.',
  failing: 'It was switched off because every try of three days failed.',
} as const;
