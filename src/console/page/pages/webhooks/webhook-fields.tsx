/** The fields of a webhook: where it leads, what it is told of, and what it is for. */
import type { NewWebhook, Webhook } from '../../api.generated.ts';
import { checks, mapped, optional, text } from '../../components/fields.tsx';
import { Status } from '../../components/status.tsx';

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
  'contact.changed': 'Somebody chose what they get, or fields of theirs changed',
  'import.completed': 'An import is done',
  'broadcast.sent': 'A broadcast is sent',
  'sequence.completed': 'A contact came to the end of a sequence',
};

export const WEBHOOK_FIELDS = {
  url: text('URL', {
    type: 'url',
    placeholder: 'https://shop.example.com/hooks/satchel',
    hint: 'It gets a POST for each event, and answers 2xx within 15 seconds.',
    is_mono: true,
  }),
  description: optional('Description', { placeholder: 'The shop' }),
  types: mapped<EventType[] | null, EventType[]>(
    checks(
      'What it is told of',
      (Object.keys(TYPES) as EventType[]).map((type) => [type, TYPES[type], type] as const),
      { lead: 'With none chosen it is all, later kinds too.' },
    ),
    (types) => types ?? [],
    (chosen) => (chosen.length === 0 ? null : chosen),
  ),
};

/** Names a webhook on pages: its host, as its whole URL may hold a token. */
export function nameOf({ url }: Pick<Webhook, 'url'>): string {
  return new URL(url).host;
}

/** Says whether a webhook is told anything, and why not. */
export function WebhookState({ of }: { of: Webhook }) {
  if (of.is_active) return <Status of="active" />;
  return of.disabled_reason ? <Status of="switched_off" tone="bad" /> : <Status of="off" />;
}

/** The reason why it was switched off, where no person did it. */
export const WHY_OFF = {
  gone: 'It was switched off because its receiver answered 410, gone.',
  failing: 'It was switched off because every try of three days failed.',
} as const;
