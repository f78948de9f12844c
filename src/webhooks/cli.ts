/** `satchel webhook`: where a project has what happens told. */
import type { Projects } from '../access/projects/service.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { requireChanges } from '../platform/cli/options.ts';
import { projectOf } from '../platform/cli/project-option.ts';
import type { Noun } from '../platform/cli/verb.ts';
import { paginateAll } from '../platform/http/pagination.ts';
import { parse } from '../platform/http/schema.ts';
import { counted } from '../platform/words/phrases.ts';
import { CHANGED_FIELDS, EVENT_TYPES, FIELDS, newWebhook, webhookChanges } from './schemas.ts';
import type { Webhooks } from './service.ts';

interface Needs {
  projects: Projects;
  webhooks: Webhooks;
}

const SECRET_ONCE = 'This is the only time that its secret is shown.';
const ID = '01J00000000000000000000000';

/** Registers `satchel webhook add | list | show | change | test | rotate | deliveries | replay | remove`. */
export function registerWebhookCommands(cli: Cli<Needs>): void {
  const webhook = cli.noun('webhook');
  registerAdding(webhook);
  webhook
    .verb('list', 'the webhooks of a project, newest first')
    .ofProject()
    .example('satchel webhook list --project shop')
    .lists(
      ({ services, page }, options) =>
        paginateAll(page, services.webhooks.list(projectOf(services, options).id)),
      (one) => ({
        id: one.id,
        url: one.url,
        on: one.is_active,
        types: one.types?.join(', ') ?? 'all',
        'off because': one.disabled_reason,
        description: one.description,
      }),
      'There are no webhooks. Add one with: satchel webhook add URL --project REF',
    );
  webhook
    .verb('show <webhook>', 'one webhook')
    .ofProject()
    .example(`satchel webhook show ${ID} --project shop`)
    .shows(({ services }, options, id) => services.webhooks.get(projectOf(services, options).id, id));
  registerChange(webhook);
  registerDeliveries(webhook);
  webhook
    .verb('remove <webhook>', 'tell a URL nothing more')
    .ofProject()
    .example(`satchel webhook remove ${ID} --project shop --yes`)
    .removes(async ({ services, consent, onTrail }, options, id) => {
      const project = projectOf(services, options);
      const { url, deliveries } = services.webhooks.require(project.id, id);
      const list = counted(deliveries, 'delivery', 'deliveries');
      consent(`deletes the webhook to ${url} for good, and with it ${list}`);
      const removed = await services.webhooks.remove(project, id, onTrail(project));
      return { json: removed, text: `The webhook to ${url} is removed.` };
    });
}

/** A line for each noun. */
const TYPES = `Types:\n${Object.values(Object.groupBy(EVENT_TYPES, (type) => type.split('.')[0] ?? ''))
  .map((of = []) => `  ${of.join(', ')}`)
  .join('\n')}`;

function registerAdding(webhook: Noun<Needs>): void {
  webhook
    .verb('add <url>', 'have a URL told what happens; prints its secret')
    .ofProject()
    .creates(FIELDS)
    .remark(TYPES)
    .example(
      'satchel webhook add https://shop.example.com/hooks --project shop',
      'satchel webhook add https://shop.example.com/hooks --project shop --types email.bounced,contact.unsubscribed',
    )
    .does(async ({ services, fields, onTrail }, options, url) => {
      const project = projectOf(services, options);
      const input = parse(newWebhook, { url, ...fields });
      const made = await services.webhooks.create(project, input, onTrail(project));
      const text = `${made.id}\n${made.secret}\n\n${SECRET_ONCE} Try it: satchel webhook test ${made.id} --project ${project.slug}`;
      return { json: made, text };
    });
}

function registerChange(webhook: Noun<Needs>): void {
  webhook
    .verb('change <webhook>', 'change what is given')
    .ofProject()
    .changes(CHANGED_FIELDS)
    .remark(TYPES)
    .example(
      `satchel webhook change ${ID} --project shop --on`,
      `satchel webhook change ${ID} --project shop --types all --description ''`,
    )
    .does(async ({ services, fields, onTrail }, options, id) => {
      const project = projectOf(services, options);
      const given = requireChanges(fields);
      const changes = parse(webhookChanges, given);
      const changed = await services.webhooks.change(project, id, changes, onTrail(project));
      const text = `The webhook to ${changed.url} is changed: ${Object.keys(given).join(', ')}.`;
      return { json: changed, text };
    });
  webhook
    .verb('rotate <webhook>', 'give it a new secret; the former one signs as well for 24 hours')
    .ofProject()
    .example(`satchel webhook rotate ${ID} --project shop`)
    .does(async ({ services, onTrail }, options, id) => {
      const project = projectOf(services, options);
      const rotated = await services.webhooks.rotate(project, id, onTrail(project));
      return { json: rotated, text: `${rotated.secret}\n\n${SECRET_ONCE}` };
    });
}

function registerDeliveries(webhook: Noun<Needs>): void {
  webhook
    .verb('test <webhook>', 'send it a test message now, and say what came of it')
    .ofProject()
    .example(`satchel webhook test ${ID} --project shop`)
    .does(async ({ services, onTrail }, options, id) => {
      const project = projectOf(services, options);
      const tested = await services.webhooks.test(project, id, onTrail(project));
      const { error, response_status } = tested;
      const end = error === null ? `was taken: ${response_status}.` : `was not taken. ${error}`;
      const text = `The delivery ${tested.id} ${end}`;
      return { json: tested, text, ...(error === null ? {} : { exit: 1 }) };
    });
  webhook
    .verb('deliveries <webhook>', 'what it was told in 30 days, newest first')
    .ofProject()
    .example(`satchel webhook deliveries ${ID} --project shop`)
    .lists(
      ({ services, page }, options, id) => {
        const { webhooks } = services;
        return webhooks.listDeliveries(webhooks.require(projectOf(services, options).id, id), page);
      },
      (one) => ({
        delivery: one.id,
        type: one.type,
        status: one.status,
        tries: one.attempts,
        next: one.next_at,
        answer: one.response_status,
        error: one.error,
        created: one.created_at,
      }),
      'Nothing was delivered to it, and nothing waits.',
    );
  webhook
    .verb('replay <webhook> <delivery>', 'send a delivery once more, with the same id')
    .ofProject()
    .example(`satchel webhook replay ${ID} ${ID} --project shop`)
    .does(async ({ services, onTrail }, options, id, delivery) => {
      const project = projectOf(services, options);
      const replayed = await services.webhooks.replay(project, id, delivery, onTrail(project));
      return { json: replayed, text: `The delivery ${replayed.id} is sent again.` };
    });
}
