/** Doctor's checks of webhooks: those that switched themselves off, and secrets that do not decrypt. */
import type { Projects } from '../access/projects/service.ts';
import { toIso } from '../platform/host/clock.ts';
import { act, aside, type HealthCheck, sealedCheck, warning } from '../platform/host/health-check.ts';
import { hostOf } from '../platform/http/destinations.ts';
import type { WebhookRow, Webhooks } from './service.ts';

const CHECK = 'webhooks';
const WHY = {
  gone: 'its receiver answered 410, gone',
  failing: 'every try of three days failed',
} as const;

export function webhookChecks({
  webhooks,
  projects,
}: {
  webhooks: Webhooks;
  projects: Projects;
}): HealthCheck[] {
  const projectOf = ({ project_id }: WebhookRow): string =>
    projects.findById(project_id)?.slug ?? String(project_id);
  const argsOf = (webhook: WebhookRow): string => `${webhook.public_id} --project ${projectOf(webhook)}`;
  return [
    {
      check: CHECK,
      run: () =>
        webhooks.listInTrouble().disabled.map((webhook) => {
          const { disabled_reason, updated_at } = webhook;
          const why = disabled_reason ? WHY[disabled_reason] : '';
          const message = `${nameOf(webhook)} was switched off at ${toIso(updated_at)}: ${why}. Nothing is told to it.`;
          const remedy = `satchel webhook change ${argsOf(webhook)} --on, or satchel webhook remove ${argsOf(webhook)} --yes`;
          const enable = act('enable_webhook', webhook.public_id, projectOf(webhook));
          return aside(webhook.public_id, warning(CHECK, message, remedy, [enable]));
        }),
    },
    sealedCheck(() =>
      webhooks.listInTrouble().undecryptable.map((webhook) => ({
        message: `The secret of ${nameOf(webhook)} does not decrypt: nothing is told to it.`,
        remedy: `satchel webhook rotate ${argsOf(webhook)}`,
      })),
    ),
  ];
}

function nameOf({ public_id, url }: WebhookRow): string {
  return `The webhook ${public_id} (${hostOf(new URL(url))})`;
}
