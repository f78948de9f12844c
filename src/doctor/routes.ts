/** What `satchel doctor` finds, over the management plane. */
import { ADMINISTER } from '../platform/http/callers.ts';
import { managementRoute, type Route } from '../platform/http/routes.ts';
import { named, nullable, oneOf, t } from '../platform/http/schema.ts';
import type { Doctor } from './service.ts';

const status = oneOf(['ok', 'warning', 'problem']);

const findings = named(
  'Findings',
  t.Object({
    status,
    findings: t.Array(
      named(
        'Finding',
        t.Object({ check: t.String(), status, message: t.String(), remedy: nullable(t.String()) }),
      ),
    ),
  }),
);

export function doctorRoutes(doctor: Doctor): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/findings',
      needs: [ADMINISTER],
      tag: 'Overview',
      summary: 'What is wrong, and what mends it',
      description:
        'What `satchel doctor` finds, those that are fine included; `status` is the worst of them, and a remedy is a command. Everything ' +
        'is looked at for each request, the DNS too, which takes seconds where much is stored.',
      response: findings,
      handle({ ctx }) {
        ctx.keepOpen();
        return doctor.examine();
      },
    }),
  ];
}
