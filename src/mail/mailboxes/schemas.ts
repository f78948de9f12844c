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
import { parseInbox } from '../inboxes/service.ts';
import { parseRate, RATE_FORM } from './pace.ts';
import { parseRelay } from './relay.ts';
import type { MailboxChanges } from './service.ts';

const settings = {
  relay: text({
    min: 1,
    max: MAX_URL_CHARS,
    description:
      'smtp[s]://user:password@host:port, with ?tls=required or ?dkim=off where wanted. Its password is never shown again.',
  }),
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
  inbox: text({
    min: 1,
    max: MAX_URL_CHARS,
    description: 'imap[s]://user:password@host:port/folder, where reports about its mail arrive.',
  }),
};

export const newMailbox = named(
  'NewMailbox',
  t.Object({
    address: text({ min: 1, max: MAX_ADDRESS_CHARS }),
    ...optionals({ ...settings, ...optional }),
  }),
);

export const mailboxChanges = named(
  'MailboxChanges',
  changesOf({ ...settings, ...nullables(optional), state: oneOf(['active', 'paused']) }),
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
  verp: t.Boolean(),
  verp_problem: nullable(t.String()),
  for: t.Array(oneOf(['transactional', 'marketing'])),
  daily_limit: nullable(t.Integer()),
  rate: nullable(t.String()),
  pace: nullable(
    named(
      'Pace',
      t.Object({
        allowed: t.String({
          description: 'As a rate is written: what it is slowed to by what its relay said.',
        }),
        since: dateTime(),
        words: t.String(),
      }),
    ),
  ),
  used_today: t.Integer(),
  state: oneOf(['active', 'paused', 'resting']),
  resting_until: at,
  failures: t.Integer(),
  last_error: nullable(t.String()),
  last_failure_at: at,
  last_success_at: at,
  refusal: nullable(t.String()),
  refused_at: at,
  inbox: nullable(
    named(
      'Inbox',
      t.Object({
        address: t.String({ description: 'With its password masked.' }),
        reports: t.Integer(),
        skipped: t.Integer({ description: 'Messages that could not be fetched or read.' }),
        last_look_at: at,
        last_error: nullable(t.String()),
        last_error_at: at,
      }),
    ),
  ),
  created_at: dateTime(),
};
export const mailboxRecord = named('Mailbox', t.Object(fields));
export const mailboxDetails = named('MailboxDetails', t.Object({ ...fields, waiting_emails: t.Integer() }));

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

export const removedMailbox = t.Object({
  deleted: t.Literal(true),
  cascade: t.Object({ waiting_emails: t.Integer() }),
});

/** What is wrong with settings beyond what the schema checks; a new mailbox has a relay, or says that it captures. */
export function errorsInMailbox(sent: Partial<MailboxInput>, is_new: boolean): FieldErrors {
  const { relay, capture } = sent;
  const is_ambiguous = relay === undefined ? capture === false || (is_new && !capture) : capture === true;
  return {
    ...collectErrors(
      () => relay !== undefined && parseRelay(relay, 'relay'),
      () => sent.inbox && parseInbox(sent.inbox),
    ),
    ...(sent.rate && !parseRate(sent.rate) ? { rate: [`must be ${RATE_FORM}`] } : {}),
    ...(is_ambiguous
      ? { [relay === undefined ? 'relay' : 'capture']: ['give either relay or capture: true'] }
      : {}),
  };
}

/** As the service takes it. Throws AppError `invalid` by field. */
export function readMailbox(sent: MailboxInput, is_new: boolean): MailboxChanges {
  const errors = errorsInMailbox(sent, is_new);
  refuseAll(errors);
  const { relay, capture, for: purposes, state, inbox, ...plain } = sent;
  return {
    ...plain,
    ...(relay === undefined ? {} : { relay: parseRelay(relay, 'relay') }),
    ...(capture ? { relay: null } : {}),
    ...(purposes === undefined
      ? {}
      : {
          for_transactional: purposes.includes('transactional'),
          for_marketing: purposes.includes('marketing'),
        }),
    ...(inbox === undefined ? {} : { inbox: inbox === null ? null : parseInbox(inbox) }),
    ...(state === undefined ? {} : { status: state }),
  };
}
