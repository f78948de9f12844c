/** Shapes of mailboxes, and what the API is sent of one turned into what the service takes. */
import { collectErrors, type FieldErrors, refuseAll } from '../../errors.ts';
import { MAX_ADDRESS_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  emailAddress,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';
import { inboxOf, inboxRecord, parseInbox } from '../inboxes/service.ts';
import { EVENT_PROVIDERS, eventsRecord } from '../relay-events/service.ts';
import { parseRate, RATE_FORM } from './pace.ts';
import { changeRelay, MAX_PORT, parseRelay, RELAY_TLS, relayOf } from './relay.ts';
import { CHECK_STAGES } from './relay-check.ts';
import type { MailboxChanges } from './service.ts';
import type { MailboxRow } from './tables.ts';

/** RFC 1035, 2.3.4. */
const MAX_HOST_CHARS = 253;
/** Longer than what any provider gives for a log-in; AUTH PLAIN may have 12,288 (RFC 4954). */
const MAX_RELAY_LOGIN_CHARS = 1_024;

const relay_url = {
  min: 1,
  max: MAX_URL_CHARS,
  description:
    'smtp[s]://user:password@host:port, with ?tls=required, ?tls=none or ?dkim=off where wanted. Its password is never shown again.',
};
const relay_host = text({ min: 1, max: MAX_HOST_CHARS });
const relay_ends = {
  port: t.Integer({ minimum: 1, maximum: MAX_PORT, description: '465 with tls, else 587, unless given.' }),
  tls: {
    ...oneOf(RELAY_TLS),
    description:
      'tls: from the first byte; required: STARTTLS or nothing; starttls: where it is offered; none: never. A password goes to no ' +
      'other machine without TLS. Unless given: tls at port 465, else starttls.',
  },
};
const relay_login = {
  user: text({ min: 1, max: MAX_RELAY_LOGIN_CHARS }),
  password: text({
    min: 1,
    max: MAX_RELAY_LOGIN_CHARS,
    description: 'As it is, not escaped. Never shown again.',
  }),
};
const newRelay = named(
  'NewRelay',
  t.Object({ host: relay_host, ...optionals({ ...relay_ends, ...relay_login }) }),
);
const relayChanges = named(
  'RelayChanges',
  t.Object(optionals({ host: relay_host, ...relay_ends, ...nullables(relay_login) })),
);

/** `password` may be left out where one is stored for the same host. */
const inboxParts = named(
  'InboxParts',
  t.Object({
    host: relay_host,
    user: text({ min: 1, max: MAX_RELAY_LOGIN_CHARS }),
    ...optionals({
      password: relay_login.password,
      port: t.Integer({
        minimum: 1,
        maximum: MAX_PORT,
        description: '993, or 143 without tls, unless given.',
      }),
      tls: t.Boolean({
        description: 'From the first byte, unless false: then STARTTLS, and nothing without.',
      }),
      folder: text({ min: 1, max: MAX_RELAY_LOGIN_CHARS, description: 'INBOX unless given.' }),
    }),
  }),
);

const inbox_url = {
  min: 1,
  max: MAX_URL_CHARS,
  description: 'imap[s]://user:password@host:port/folder, where reports about its mail arrive; or its parts.',
};

/** A key stays until another comes; another provider takes it away. */
const newEvents = named(
  'MailboxEventsChanges',
  t.Object({
    provider: oneOf(EVENT_PROVIDERS),
    ...optionals(
      nullables({
        key: text({
          min: 1,
          max: MAX_RELAY_LOGIN_CHARS,
          description: 'What the provider signs with, of sendgrid, mailgun and resend. Never shown again.',
        }),
        configuration_set: text({ min: 1, max: 64, description: 'Of ses: the one whose events are told.' }),
      }),
    ),
  }),
);

const settings = {
  smtp_url: text(relay_url),
  capture: t.Boolean({ description: 'Keep what is sent instead of delivering it; in place of `relay`.' }),
  for: t.Array(oneOf(['transactional', 'marketing']), { minItems: 1, maxItems: 2 }),
};
const optional = {
  daily_limit: t.Integer({ minimum: 1, description: 'Messages a UTC day; no limit unless given.' }),
  rate: text({
    min: 3,
    max: 7,
    description: `${RATE_FORM}: at most so many mails in any such time. No rate unless given.`,
  }),
  return_path: { ...emailAddress(), description: 'Where bounces go; to the address itself unless given.' },
  verp: t.Boolean({
    description: 'A return path of its own for each mail; where there is an inbox unless given.',
  }),
  inbox: t.Union([inboxParts, text(inbox_url)]),
};

export const newMailbox = named(
  'NewMailbox',
  t.Object({
    address: text({ min: 1, max: MAX_ADDRESS_CHARS }),
    ...optionals({ ...settings, relay: t.Union([newRelay, text(relay_url)]), ...optional }),
  }),
);

export const mailboxChanges = named(
  'MailboxChanges',
  changesOf({
    ...settings,
    relay: t.Union([relayChanges, text(relay_url)]),
    ...nullables(optional),
    events: nullable(newEvents),
    state: oneOf(['active', 'paused']),
  }),
);
type MailboxInput = Static<typeof mailboxChanges>;

const at = nullable(dateTime());
const fields = {
  id: t.Integer(),
  address: t.String(),
  domain: t.String(),
  kind: oneOf(['smtp', 'capture']),
  relay: nullable(t.String({ description: 'With its password masked.' })),
  return_path: nullable(t.String()),
  verp: t.Boolean({ description: 'Whether each mail gets its own return path.' }),
  verp_problem: nullable(t.String({ description: 'Why mails get none although they should.' })),
  for: t.Array(oneOf(['transactional', 'marketing'])),
  daily_limit: nullable(t.Integer()),
  rate: nullable(t.String()),
  pace: nullable(
    named(
      'Pace',
      t.Object({
        allowed: nullable(
          t.String({
            description: 'As a rate is written: what its relay was found to take; null: not known.',
          }),
        ),
        since: dateTime(),
        words: t.String({ description: 'Of the last refusal.' }),
        waits_until: nullable(dateTime()),
      }),
    ),
  ),
  used_today: t.Integer(),
  state: {
    ...oneOf(['active', 'paused', 'resting']),
    description: '`resting`: left alone after failures, and tried again by itself.',
  },
  resting_until: at,
  failures: t.Integer(),
  last_error: nullable(t.String()),
  last_failure_at: at,
  last_success_at: at,
  refusal: nullable(
    t.String({
      description:
        "What its relay holds against it, in the relay's words: until it takes a mail again, and for a day at most.",
    }),
  ),
  refused_at: at,
  inbox: nullable(inboxRecord),
  events: nullable(eventsRecord),
  created_at: dateTime(),
};
export const mailboxRecord = named('Mailbox', t.Object(fields));
export type MailboxRecord = Static<typeof mailboxRecord>;
export const mailboxDetails = named('MailboxDetails', t.Object({ ...fields, waiting_emails: t.Integer() }));

export const relayProvider = named(
  'RelayProvider',
  t.Object({
    name: t.String(),
    label: t.String(),
    host: t.String({ description: 'With REGION in it, which stands for that of the account.' }),
    port: t.Integer(),
    tls: oneOf(RELAY_TLS),
    user: nullable(t.String({ description: 'Whom everybody logs in as there.' })),
    other_ports: t.Array(t.Integer(), {
      description: 'Where it takes mail as well; those that end in 465 begin with TLS.',
    }),
    events: nullable(
      t.Object(
        { place: t.String(), ticks: t.String() },
        { description: 'Where the URL of events goes in its settings, and which of them to tick.' },
      ),
    ),
  }),
);

export const mailboxTestBody = t.Object({ to: emailAddress() });
export const mailboxTest = named(
  'MailboxTest',
  t.Object({
    address: t.String(),
    to: t.String(),
    outcome: t.String({ description: '`sent` or `captured`; anything else is no success.' }),
    smtp_code: nullable(t.Integer()),
    response: t.String(),
  }),
);

export const relayCheck = named(
  'RelayCheck',
  t.Object({
    ok: t.Boolean(),
    stage: nullable({ ...oneOf(CHECK_STAGES), description: 'Where it ended; null where it is ok.' }),
    words: t.String({ description: "The server's last words, or what happened instead of any." }),
    hint: nullable(t.String({ description: 'What to do about it.' })),
  }),
);

export const removedMailbox = t.Object({
  deleted: t.Literal(true),
  cascade: t.Object({ waiting_emails: t.Integer() }),
});

/**
 * What is wrong with settings beyond what the schema checks; a new mailbox, which is `before` without a row,
 * has a relay or says that it captures.
 */
export function errorsInMailbox(sent: Partial<MailboxInput>, before: MailboxRow | null): FieldErrors {
  const { relay, smtp_url, capture } = sent;
  const has_relay = relay !== undefined || smtp_url !== undefined;
  const is_ambiguous = has_relay ? capture === true : capture === false || (before === null && !capture);
  return {
    ...collectErrors(
      () => relay !== undefined && readRelay(relay, before),
      () => smtp_url !== undefined && parseRelay(smtp_url, 'smtp_url'),
      () => sent.inbox && readInbox(sent.inbox),
    ),
    ...(sent.rate && !parseRate(sent.rate) ? { rate: [`must be ${RATE_FORM}`] } : {}),
    ...(is_ambiguous ? { [has_relay ? 'capture' : 'relay']: ['give either relay or capture: true'] } : {}),
    ...(relay !== undefined && smtp_url !== undefined ? { smtp_url: ['give either relay or smtp_url'] } : {}),
  };
}

function readInbox(sent: NonNullable<MailboxInput['inbox']>) {
  return typeof sent === 'string' ? parseInbox(sent) : inboxOf(sent);
}

type RelayInput = NonNullable<MailboxInput['relay']>;

/** Parts of a relay change those of the one that is there. Throws AppError `invalid`. */
function readRelay(
  sent: RelayInput,
  before: MailboxRow | null,
): Pick<MailboxChanges, 'relay' | 'relay_parts'> {
  if (typeof sent === 'string') return { relay: parseRelay(sent, 'relay') };
  if (before === null) return { relay: relayOf(sent) };
  changeRelay(before, sent);
  return { relay_parts: sent };
}

/** As the service takes it. Throws AppError `invalid` by field. */
export function readMailbox(sent: MailboxInput, before: MailboxRow | null): MailboxChanges {
  refuseAll(errorsInMailbox(sent, before));
  const { relay, smtp_url, capture, for: purposes, state, inbox, ...plain } = sent;
  return {
    ...plain,
    ...(relay === undefined ? {} : readRelay(relay, before)),
    ...(smtp_url === undefined ? {} : { relay: parseRelay(smtp_url, 'smtp_url') }),
    ...(capture ? { relay: null } : {}),
    ...(purposes === undefined
      ? {}
      : {
          for_transactional: purposes.includes('transactional'),
          for_marketing: purposes.includes('marketing'),
        }),
    ...(inbox === undefined ? {} : { inbox: inbox === null ? null : readInbox(inbox) }),
    ...(state === undefined ? {} : { status: state }),
  };
}
