/** What a webhook is: where it leads, what it is told of, and what it is for. */
import type { NewWebhook, Webhook } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import type { Entered } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';

type EventType = NonNullable<NewWebhook['types']>[number];

const TYPES: Readonly<Record<EventType, string>> = {
  'object.created': 'A file was stored',
  'object.deleted': 'A file was deleted, or has expired',
  'email.sent': 'A mail was taken by a relay',
  'email.failed': 'A mail never left, or nobody knows whether it did',
  'email.bounced': 'A mail came back',
  'email.complained': 'A recipient called a mail spam',
  'email.replied': 'Somebody answered a mail',
  'contact.subscribed': 'Somebody came to a list',
  'contact.confirmed': 'Somebody confirmed a sign-up',
  'contact.unsubscribed': 'Somebody left',
  'contact.clicked': 'Somebody clicked in a mail',
  'contact.changed': 'somebody chose what they get, or their fields changed',
  'import.completed': 'An import is done',
  'broadcast.sent': 'A broadcast is sent',
  'sequence.completed': 'A contact came to the end of a sequence',
};
const TYPE_NAMES = Object.keys(TYPES) as EventType[];

export function WebhookFields({ of }: { of?: Webhook }) {
  return (
    <>
      <TextField
        name="url"
        label="URL"
        type="url"
        value={of?.url}
        placeholder="https://shop.example.com/hooks/satchel"
        hint="It gets a POST for each event, and answers 2xx within 15 seconds."
        is_mono
        is_focused={!of}
      />
      <TextField name="description" label="Description" value={of?.description} placeholder="The shop" />
      <fieldset class="field">
        <legend class="field-label">What it is told of</legend>
        <p class="hint">With none chosen it is all, later kinds too.</p>
        <div class="checks">
          {TYPE_NAMES.map((type) => (
            <CheckField
              key={type}
              name="types"
              value={type}
              label={TYPES[type]}
              hint={type}
              is_checked={of?.types?.includes(type) ?? false}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}

/** What was entered, for the API. */
export function webhookIn(entered: Entered) {
  const chosen = entered.all('types');
  const types = TYPE_NAMES.filter((type) => chosen.includes(type));
  return {
    url: entered.text('url'),
    description: entered.textOrNull('description'),
    types: types.length === 0 ? null : types,
  };
}

/** What a page calls a webhook: its host, as its whole URL may hold a token. */
export function nameOf({ url }: Pick<Webhook, 'url'>): string {
  return new URL(url).host;
}
