/** Metrics for Prometheus, and a dashboard of Grafana that shows them. */
import { ADMINISTER } from '../../platform/http/callers.ts';
import { machineRoute, openRoute, type Route } from '../../platform/http/routes.ts';
import dashboard from './dashboard.json';
import { EXPOSITION_TYPE } from './exposition.ts';
import type { Metrics } from './service.ts';

export function metricsRoutes(metrics: Metrics): Route[] {
  return [
    machineRoute({
      path: '/metrics',
      needs: [ADMINISTER],
      tag: 'Status',
      summary: 'Metrics, as Prometheus reads them',
      description:
        'Needs no credential from this very machine, where the request names it as the host (`localhost`, `127.0.0.1`) and has none of ' +
        'Forwarded, X-Forwarded-For and Via. No label is unbounded: routes are patterns, and no mailbox or project is named. ' +
        '`/docs/grafana.json` is a dashboard for Grafana.',
      produces: 'text/plain',
      handle: async () =>
        new Response(await metrics.read(), { headers: { 'Content-Type': EXPOSITION_TYPE } }),
    }),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/docs/grafana.json',
      tag: 'Documentation',
      summary: 'A dashboard for Grafana',
      handle: () => Response.json(dashboard),
    }),
  ];
}
