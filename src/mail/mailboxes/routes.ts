/** The management plane's endpoints of mailboxes. */
import type { Projects } from '../../access/projects/service.ts';
import { invalid } from '../../errors.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { pageQuery, paginateAll } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { listProviders } from './relay-providers.ts';
import type { MailboxRecord } from './schemas.ts';
import {
  errorsInMailbox,
  mailboxChanges,
  mailboxDetails,
  mailboxRecord,
  mailboxTest,
  mailboxTestBody,
  newMailbox,
  readMailbox,
  relayCheck,
  relayProvider,
  removedMailbox,
} from './schemas.ts';
import type { Mailboxes } from './service.ts';

interface Needs {
  projects: Pick<Projects, 'requireFor'>;
  mailboxes: Mailboxes;
  /** For what goes along when a mailbox is removed. */
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

const needs = [ADMINISTER] as const;
const tag = 'Mailboxes';
const MAILBOX = '/mailboxes/:address';
const NAMED_BY = '`address` may be its id, too.';

/** What deliveries and the inbox's reader tell of a mailbox. */
const CHANGING_BY_ITSELF = [
  'used_today',
  'state',
  'resting_until',
  'failures',
  'last_error',
  'last_failure_at',
  'last_success_at',
  'pace',
  'refusal',
  'refused_at',
  'verp_problem',
  'reports',
  'skipped',
  'last_look_at',
  'last_error_at',
  'last_event_at',
  'problem',
  'waiting_emails',
];

export function mailboxRoutes(services: Needs): Route[] {
  const { mailboxes } = services;
  const load = ({ ctx }: { ctx: RequestContext }) => mailboxes.require(ctx.params.address ?? '');
  return [
    ...mailboxRecordRoutes(services, load),
    ...relayRoutes(services),
    managementRoute({
      method: 'POST',
      path: `${MAILBOX}/events/rotate`,
      needs,
      tag,
      summary: 'Give relay events another address',
      description: `${NAMED_BY} That of before is unknown at once: put the new one into the provider's settings.`,
      response: mailboxRecord,
      load,
      handle: ({ resource, caller, ctx }) =>
        mailboxes.rotateEvents(actorOf(caller, ctx.ip), resource.address),
    }),
    managementRoute({
      method: 'POST',
      path: `${MAILBOX}/test`,
      needs,
      tag,
      summary: 'Send a message through a mailbox',
      description: `${NAMED_BY} At once, whatever its state; answers what its relay said, which may be a refusal.`,
      body: mailboxTestBody,
      example: { to: 'me@example.org' },
      response: mailboxTest,
      load,
      handle: ({ resource, body }) => mailboxes.test(resource.address, body.to),
    }),
  ];
}

function mailboxRecordRoutes(
  { mailboxes, projects, emails }: Needs,
  load: (of: { ctx: RequestContext }) => ReturnType<Mailboxes['require']>,
): Route[] {
  const detailsOf = (record: MailboxRecord) => ({
    ...record,
    waiting_emails: emails.countWaitingFor([record.id]),
  });
  return recordRoutes(managementRoute, {
    path: MAILBOX,
    tag,
    needs,
    shown: mailboxDetails,
    load,
    errorsIn: ({ current, body }) => errorsInMailbox(body, current),
    list: {
      summary: 'List mailboxes',
      description: 'Those of the default domain first, with what each sent today and how its relay is.',
      query: t.Object({
        ...pageQuery,
        project: t.Optional(
          text({ max: MAX_NAME_CHARS, description: 'Only those that this project may send from.' }),
        ),
      }),
      response: t.Array(mailboxRecord),
      handle: ({ caller, query }) =>
        paginateAll(
          query,
          mailboxes.list(
            query.project === undefined
              ? null
              : { project_id: projects.requireFor(caller, query.project).id },
          ),
        ),
    },
    create: {
      summary: 'Add a mailbox',
      description:
        'An address of a sending domain, with the relay that takes its mail, in parts or as an URL (`smtp_url`), or with ' +
        '`capture: true`, which stands in for a relay where the domain has none.',
      body: newMailbox,
      example: { address: 'hello@mail.example.com', capture: true, for: ['transactional'] },
      response: mailboxRecord,
      handle({ caller, ctx, body }) {
        const { address, ...sent } = body;
        const { relay = null, ...settings } = readMailbox(sent, null);
        return mailboxes.add(actorOf(caller, ctx.ip), { ...settings, address, relay });
      },
    },
    read: {
      summary: 'Read a mailbox',
      unversioned: CHANGING_BY_ITSELF,
      description: `${NAMED_BY} \`waiting_emails\` would have to find another mailbox if it were deleted.`,
      handle: ({ resource }) => detailsOf(mailboxes.show(resource)),
    },
    change: {
      summary: 'Change a mailbox',
      description:
        `${NAMED_BY} Only what is sent changes, of a relay's parts too, from the next mail on. A password goes along to no other ` +
        'host. `state: active` ends its rest after failures. `events` has the provider of its relay tell of bounces, at a URL here.',
      body: mailboxChanges,
      example: { daily_limit: 2000 },
      handle: async ({ caller, ctx, resource, body }) =>
        detailsOf(
          await mailboxes.change(actorOf(caller, ctx.ip), resource.address, readMailbox(body, resource)),
        ),
    },
    remove: {
      summary: 'Delete a mailbox',
      description: `${NAMED_BY} Mails that wait for it find another mailbox or fail; the count tells how many.`,
      response: removedMailbox,
      async handle({ caller, ctx, resource }) {
        const waiting_emails = emails.countWaitingFor([resource.id]);
        await mailboxes.remove(actorOf(caller, ctx.ip), resource.address);
        return { deleted: true, cascade: { waiting_emails } };
      },
    },
  });
}

function relayRoutes({ mailboxes }: Needs): Route[] {
  return [
    managementRoute({
      method: 'POST',
      path: '/mailboxes/check',
      needs,
      tag,
      summary: 'Try a relay before a mailbox is made of it',
      description:
        'Takes what adding a mailbox takes, with a relay. Connects, logs in and asks whether mail from the address would be taken; ' +
        'nothing is sent or saved, and it stands on the audit trail. Answers within 15 s with the stage where it ended, the words of the server, ' +
        'which hold no password, and a hint. What does not greet with 220 is not quoted. Two run at once; more are 429.',
      body: newMailbox,
      example: {
        address: 'hello@mail.example.com',
        relay: { host: 'smtp.example.com', user: 'me', password: 'secret' },
      },
      response: relayCheck,
      errorsIn: ({ body }) => errorsInMailbox(body, null),
      handle({ caller, ctx, body }) {
        const { address, ...sent } = body;
        const { relay, return_path = null } = readMailbox(sent, null);
        if (!relay) throw invalid({ relay: ['is required: a mailbox that captures has none to try'] });
        return mailboxes.relay_checks.check(actorOf(caller, ctx.ip), { address, relay, return_path });
      },
    }),
    managementRoute({
      method: 'GET',
      path: '/relay-providers',
      needs,
      tag,
      summary: 'Relays of well-known providers',
      description: 'Parts to fill a `relay` with; user and password are those of your account.',
      response: t.Array(relayProvider),
      handle: listProviders,
    }),
  ];
}
