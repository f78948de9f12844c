/** `satchel webhook`: where a project has what happens told. */
import type { Projects } from '../access/projects/service.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { rowOf } from '../platform/cli/tables.ts';
import type { Noun } from '../platform/cli/verb.ts';
import { paginateAll } from '../platform/http/pagination.ts';
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
      ({ services, project, page }) => paginateAll(page, services.webhooks.list(project.id)),
      (one) =>
        rowOf(
          { ...one, types: one.types?.join(', ') ?? 'all' },
          'id url on=is_active types off_because=disabled_reason description',
        ),
      'There are no webhooks. Add one with: satchel webhook add URL --project REF',
    );
  webhook
    .verb('show <webhook>', 'one webhook')
    .ofProject()
    .example(`satchel webhook show ${ID} --project shop`)
    .shows(({ services, project }, _options, id) => services.webhooks.get(project.id, id));
  registerChange(webhook);
  registerDeliveries(webhook);
  webhook
    .verb('remove <webhook>', 'tell a URL nothing more')
    .ofProject()
    .example(`satchel webhook remove ${ID} --project shop --yes`)
    .removes(async ({ services, project, consent, trail }, _options, id) => {
      const { url, deliveries } = services.webhooks.require(project.id, id);
      const list = counted(deliveries, 'delivery', 'deliveries');
      consent(`deletes the webhook to ${url} for good, and with it ${list}`);
      const removed = await services.webhooks.remove(project, id, trail);
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
    .takes(FIELDS, newWebhook, { more: (_options, _session, url) => ({ url }) })
    .remark(TYPES)
    .example(
      'satchel webhook add https://shop.example.com/hooks --project shop',
      'satchel webhook add https://shop.example.com/hooks --project shop --types email.bounced,contact.unsubscribed',
    )
    .shows(
      ({ services, project, sent, trail }) => services.webhooks.create(project, sent, trail),
      ({ id, secret }, { project }) =>
        `${id}\n${secret}\n\n${SECRET_ONCE} Try it: satchel webhook test ${id} --project ${project.slug}`,
    );
}

function registerChange(webhook: Noun<Needs>): void {
  webhook
    .verb('change <webhook>', 'change what is given')
    .ofProject()
    .changes(CHANGED_FIELDS, webhookChanges)
    .remark(TYPES)
    .example(
      `satchel webhook change ${ID} --project shop --on`,
      `satchel webhook change ${ID} --project shop --types all --description ''`,
    )
    .shows(
      ({ services, project, sent, trail }, _options, id) =>
        services.webhooks.change(project, id, sent, trail),
      ({ url }, { fields }) => `The webhook to ${url} is changed: ${Object.keys(fields).join(', ')}.`,
    );
  webhook
    .verb('rotate <webhook>', 'give it a new secret; the former one signs as well for 24 hours')
    .ofProject()
    .example(`satchel webhook rotate ${ID} --project shop`)
    .shows(
      ({ services, project, trail }, _options, id) => services.webhooks.rotate(project, id, trail),
      ({ secret }) => `${secret}\n\n${SECRET_ONCE}`,
    );
}

function registerDeliveries(webhook: Noun<Needs>): void {
  webhook
    .verb('test <webhook>', 'send it a test message now, and say what came of it')
    .ofProject()
    .example(`satchel webhook test ${ID} --project shop`)
    .does(async ({ services, project, trail }, _options, id) => {
      const tested = await services.webhooks.test(project, id, trail);
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
      ({ services: { webhooks }, project, page }, _options, id) =>
        webhooks.listDeliveries(webhooks.require(project.id, id), page),
      (one) =>
        rowOf(
          one,
          'delivery=id type status tries=attempts next=next_at answer=response_status error created=created_at',
        ),
      'Nothing was delivered to it, and nothing waits.',
    );
  webhook
    .verb('replay <webhook> <delivery>', 'send a delivery once more, with the same id')
    .ofProject()
    .example(`satchel webhook replay ${ID} ${ID} --project shop`)
    .shows(
      ({ services, project, trail }, _options, id, delivery) =>
        services.webhooks.replay(project, id, delivery, trail),
      (replayed) => `The delivery ${replayed.id} is sent again.`,
    );
}
