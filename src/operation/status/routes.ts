/** Health and version: the two endpoints that need no credential and say how the server is. */
import type { Config } from '../../config.ts';
import { openRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { BACKEND_VERSION } from '../../version.ts';
import { health, type Status } from './service.ts';

const build = t.Object({ backend_version: t.String(), env: t.String() });

export function statusRoutes(status: Status, config: Config): Route[] {
  return [
    openRoute({
      plane: 'status',
      method: 'GET',
      path: '/health',
      tag: 'Status',
      summary: 'How the server is',
      description:
        'Answers 200 as long as the server runs; `status` is `degraded` when it cannot store anything, its object store is away, or another Satchel has taken over (`fenced`).',
      response: health,
      handle: () => status.health(),
    }),
    openRoute({
      plane: 'status',
      method: 'GET',
      path: '/version',
      tag: 'Status',
      summary: 'Which build runs',
      response: build,
      handle: () => ({ backend_version: BACKEND_VERSION, env: config.env }),
    }),
  ];
}
