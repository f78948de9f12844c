/** The management plane's endpoints of sending domains. */
import type { Projects } from '../../access/projects/service.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import { ADMINISTER, actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { pageQuery, paginateAll } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import {
  addedDomain,
  type DomainRecord,
  dkimRotation,
  domainChanges,
  domainCheck,
  domainDetails,
  domainRecord,
  newDomain,
  removedDomain,
} from './schemas.ts';
import type { SendingDomains } from './service.ts';

interface Needs {
  projects: Pick<Projects, 'requireFor'>;
  sending_domains: SendingDomains;
  /** For what goes along when a domain is removed. */
  mailboxes: { list(): { id: number; domain: string }[] };
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

const needs = [ADMINISTER] as const;
const tag = 'Sending domains';
const DOMAIN = '/sending-domains/:name';

export function sendingDomainRoutes(services: Needs): Route[] {
  const load = ({ ctx }: { ctx: RequestContext }) => services.sending_domains.get(ctx.params.name ?? '');
  return [...domainRecordRoutes(services, load), ...dnsRoutes(services, load)];
}

type Load = (input: { ctx: RequestContext }) => DomainRecord;

function actor({ caller, ctx }: { caller: ManagementCaller; ctx: RequestContext }) {
  return actorOf(caller, ctx.ip);
}

function domainRecordRoutes({ sending_domains, projects, mailboxes, emails }: Needs, load: Load): Route[] {
  const countWaiting = (name: string): number => {
    const ids = mailboxes.list().flatMap(({ id, domain }) => (domain === name ? [id] : []));
    return emails.countWaitingFor(ids);
  };
  const detailsOf = (name: string) => ({
    ...sending_domains.show(name),
    waiting_emails: countWaiting(name),
  });
  return recordRoutes(managementRoute, {
    path: DOMAIN,
    tag,
    needs,
    shown: domainDetails,
    load,
    list: {
      summary: 'List sending domains',
      description: 'The default first.',
      query: t.Object({
        ...pageQuery,
        project: t.Optional(
          text({ max: MAX_NAME_CHARS, description: 'Only those that this project may send from.' }),
        ),
      }),
      response: t.Array(domainRecord),
      handle: ({ caller, query }) =>
        paginateAll(
          query,
          sending_domains.list(
            query.project === undefined
              ? null
              : { project_id: projects.requireFor(caller, query.project).id },
          ),
        ),
    },
    create: {
      summary: 'Add a sending domain',
      description: 'Makes its DKIM key and answers the DNS records to publish.',
      body: newDomain,
      example: { name: 'news.example.com' },
      response: addedDomain,
      handle: (input) => sending_domains.add(actor(input), input.body),
    },
    read: {
      summary: 'Read a sending domain',
      unversioned: ['waiting_emails', 'mailboxes', 'is_verified', 'verified_at'],
      description:
        'With the DNS records to publish; nothing is looked up. `mailboxes` go when it is deleted, and `waiting_emails` would ' +
        'have to find another mailbox then.',
      handle: ({ resource }) => detailsOf(resource.name),
    },
    change: {
      summary: 'Change a sending domain',
      body: domainChanges,
      example: { is_active: true },
      async handle(input) {
        await sending_domains.change(actor(input), input.resource.name, input.body);
        return detailsOf(input.resource.name);
      },
    },
    remove: {
      summary: 'Delete a sending domain',
      description:
        'Its mailboxes and its DKIM key go along; mails that wait for them find another mailbox or fail. The counts tell how many.',
      response: removedDomain,
      async handle(input) {
        const waiting_emails = countWaiting(input.resource.name);
        const removed = await sending_domains.remove(actor(input), input.resource.name);
        return { deleted: true, cascade: { mailboxes: removed.removed_mailboxes, waiting_emails } };
      },
    },
  });
}

function dnsRoutes({ sending_domains }: Needs, load: Load): Route[] {
  return [
    managementRoute({
      method: 'POST',
      path: `${DOMAIN}/verify`,
      needs,
      tag,
      summary: 'Look its DNS records up',
      description:
        'Says of each record whether it is found, missing or wrong. The domain is verified when ownership, SPF and DKIM are found, and no ' +
        'longer when one of them is not; what nobody answered changes nothing. A new DKIM key that is seen is taken into use.',
      response: domainCheck,
      load,
      handle: (input) => sending_domains.verify(actor(input), input.resource.name),
    }),
    managementRoute({
      method: 'POST',
      path: `${DOMAIN}/dkim/rotate`,
      needs,
      tag,
      summary: 'Make a new DKIM key',
      description:
        'Answers the record to publish. Mail is signed with the old key until the new record is seen: by `verify`, at the start or at a ' +
        'full hour. Where a new key waits already, that stays.',
      response: dkimRotation,
      load,
      handle: (input) => sending_domains.rotateDkim(actor(input), input.resource.name),
    }),
  ];
}
