/** What requests and answers about sequences and about broadcasts have in common. */
import { MAX_NAME_CHARS, MAX_PREHEADER_CHARS } from '../limits.ts';
import { changesOf, type Static, t, text } from '../platform/http/schema.ts';
import { OPENED_BY_MACHINE } from './mails/service.ts';

export const template = text({ min: 1, max: MAX_NAME_CHARS, description: 'Slug of a marketing template.' });
export const preheader = text({
  min: 1,
  max: MAX_PREHEADER_CHARS,
  description:
    'What inboxes show behind the subject. It may have placeholders; hidden in the HTML, in no text part.',
});
/** The values of placeholders: as they are sent, and as they are stored. */
export const sent_variables = t.Record(t.String(), t.Unknown());
export const variables = t.Record(t.String(), t.String());

const utm_value = text({ min: 1, max: MAX_NAME_CHARS });
export const utm = {
  ...changesOf({ source: utm_value, medium: utm_value, campaign: utm_value, content: utm_value }),
  additionalProperties: false,
  minProperties: 1,
  description:
    'Parameters (`utm_source` and so on) that links gain which are counted, where they do not have them. `links` shows them without.',
};
/** As it is stored. */
export const stored_utm = t.Unsafe<Record<string, string>>(utm);

export const counter = t.Integer();
/** What became of the mails. */
export const mail_numbers = {
  waiting: t.Integer({ description: 'Mails that wait for their relay.' }),
  sent: t.Integer({
    description: 'Mails that a relay took. With `lost` and `waiting` it is all that were made.',
  }),
  lost: t.Integer({ description: 'Mails that no relay took, or that were taken back.' }),
  untracked: t.Integer({
    description:
      'Of `sent`, those for whom it is not counted whether they open or click, for want of their consent.',
  }),
  clicked: counter,
  opened: counter,
  opened_by_machine: t.Integer({ description: OPENED_BY_MACHINE }),
  bounced: counter,
  complained: counter,
  unsubscribed: counter,
  replied: t.Integer({ description: 'Mails that the address they went to has answered.' }),
};
const numbers = t.Object(mail_numbers);

/** The numbers of mails, from their counters. */
export function mailNumbersOf(numberOf: (what: string) => number): Static<typeof numbers> {
  const all = Object.keys(mail_numbers).map((what) => [what, numberOf(what)]);
  return Object.fromEntries(all) as Static<typeof numbers>; // It has no others.
}

/** Whether it may start. */
export const readiness = {
  ready: t.Boolean(),
  captured: t.Boolean({
    description: 'All mailboxes of its marketing capture: nobody gets its mail, and no DNS is asked.',
  }),
};
