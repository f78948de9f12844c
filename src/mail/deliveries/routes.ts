/** What became of an email, for whoever looks after the project: its story, and trying it again. */
import type { Config } from '../../config.ts';
import {
  type ProjectCaller,
  projectRoute,
  projectUrl,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { named, nullable, t, ulid } from '../../platform/http/schema.ts';
import { type Emails, emailRecord, retryBody } from '../emails/service.ts';
import { MAX_RETRIED_EMAILS } from './requeue-matching.ts';
import type { Deliveries } from './service.ts';
import { emailEvent } from './timeline.ts';

const TAG = 'Emails';

const story = named(
  'EmailStory',
  t.Object({
    ...emailRecord.properties,
    story: t.Array(t.String(), { description: 'One sentence a line, in the order of time.' }),
    events: t.Array(emailEvent, { description: 'The same as events, without what comes next.' }),
  }),
);

const count = t.Integer();
const retried = named(
  'RetriedEmails',
  t.Object({ matching: count, queued: count, refused: count, left_out: count }),
);

export function deliveryRoutes(on: {
  deliveries: Deliveries;
  emails: Emails;
  config: Pick<Config, 'public_url'>;
}): Route[] {
  const { deliveries, emails, config } = on;
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ProjectCaller }) =>
    emails.get(caller.project, ctx.params.id ?? '');
  return [
    projectRoute({
      method: 'GET',
      path: '/emails/:id/story',
      tag: TAG,
      summary: 'What happened to an email, and what comes next',
      description: 'As `satchel email why` tells it.',
      response: story,
      load,
      handle: ({ resource }) => {
        const told = deliveries.explain(resource.id);
        return { ...told.email, story: told.story, events: told.events };
      },
    }),
    projectRoute({
      method: 'POST',
      path: '/emails/retry',
      tag: TAG,
      summary: 'Queue again what failed',
      description:
        `Of the mails with the status \`failed\` those that the filter fits, oldest first, ${MAX_RETRIED_EMAILS} queued at most: asked again, it goes on. ` +
        'Left out, and to be retried one by one, are mails whose client was told at once that they failed, mails of test keys, and ' +
        'those that a broadcast sends no more. `refused` are those whose content or an attachment is no longer kept, and those that no ' +
        'mailbox can send today. The numbers are of all that fit. 409 `project_inactive`.',
      body: retryBody,
      example: { date_from: '2030-01-31T09:00:00Z', dry_run: true },
      response: retried,
      handle: ({ ctx, caller, body }) => {
        ctx.keepOpen(); // A second of work for each thousand.
        return deliveries.requeueMatching(caller.actor, caller.project.id, body);
      },
    }),
    projectRoute({
      method: 'POST',
      path: '/emails/:id/retry',
      tag: TAG,
      summary: 'Queue an email again that failed, bounced or is unknown',
      description:
        'As it was accepted, with all its attempts, and only to those whom no relay has taken it for, or to its recipient where ' +
        'it came back. 409 where it is neither `failed`, `bounced` nor `unknown`, or its content or an attachment is no longer kept, or no mailbox can send it today, or the project is inactive (`project_inactive`). Mail of ' +
        'sequences has no job: its `job_id` is null, and `status_url` is the email.',
      status: 202,
      response: t.Object({ id: ulid(), job_id: nullable(ulid()), status_url: t.String({ format: 'uri' }) }),
      load,
      handle: async ({ caller, resource }) => {
        const { id, job_id } = await deliveries.requeueOne(caller.actor, resource.id);
        const where = job_id === null ? `emails/${id}` : `jobs/${job_id}`;
        return { id, job_id, status_url: `${projectUrl(config.public_url, caller)}/${where}` };
      },
    }),
  ];
}
