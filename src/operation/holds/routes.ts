/** The management plane's endpoint of what a restore holds. */
import type { Projects } from '../../access/projects/service.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { released } from './schemas.ts';
import type { Holds } from './service.ts';

export function holdRoutes({ holds, projects }: { holds: Holds; projects: Projects }): Route[] {
  return [
    managementRoute({
      method: 'POST',
      path: '/release',
      needs: [ADMINISTER],
      tag: 'Backups',
      summary: 'Let go what a restore holds',
      description:
        'A restore stops what would go on by itself, as it may have gone out since the backup was made; `held` of `/overview` tells of it. ' +
        'This has all of it go on as if it had waited: broadcasts not when they are more than a day late, schedules with their next run. ' +
        'With `drop` what was due before the restore counts as done: waiting mails and broadcasts that had begun, or whose time was over, ' +
        'are cancelled, deliveries of webhooks fail, sign-ups and runs are dropped, steps of sequences are skipped as if they had been ' +
        'sent when they were due; what is due later goes on.',
      body: t.Object({
        drop: t.Optional(t.Boolean({ description: 'Default false.' })),
        project: t.Optional(t.String({ description: 'Of this project alone: id, ULID or slug.' })),
      }),
      example: {},
      response: released,
      async handle({ caller, ctx, body }) {
        ctx.keepOpen();
        const project = body.project === undefined ? null : projects.requireFor(caller, body.project);
        return holds.release(actorOf(caller, ctx.ip), { project, drop: body.drop ?? false });
      },
    }),
  ];
}
