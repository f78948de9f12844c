/** What doctor asks of alerts: whether they arrive. */
import { aside, type HealthCheck, ok, problem, sealedCheck } from '../../platform/host/health-check.ts';
import { ALERTS } from './known.ts';
import type { Alerts } from './service.ts';

interface On {
  alerts: Alerts;
}

/** Whether alerts arrive. */
export function arrivalCheck({ alerts }: On): HealthCheck {
  return {
    check: ALERTS,
    run() {
      const failing = alerts.listFailing().map(({ way, words }) => {
        const message = `Alerts to ${alerts.nameOf(way)} do not arrive: ${words}`;
        return { ...aside(way, problem(ALERTS, message, 'satchel alert test')), about: ABOUT };
      });
      if (failing.length > 0) return failing;
      const names = alerts.listWays().map((way) => alerts.nameOf(way));
      return names.length > 0
        ? [ok(ALERTS, `Problems are told to ${names.join(', ')}.`)]
        : [ok(ALERTS, 'Nobody is told of problems: satchel alert set --email YOUR-ADDRESS has them mailed.')];
    },
  };
}

const ABOUT = { code: 'alerts', ref: null };

export function alertChecks(on: On): HealthCheck[] {
  const lost = {
    message: 'The URL of alerts does not decrypt: nothing is told to it.',
    remedy: 'satchel alert set --url -',
    about: ABOUT,
  };
  return [arrivalCheck(on), sealedCheck(() => (on.alerts.hasLostUrl() ? [lost] : []))];
}
