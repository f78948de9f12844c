/** Shapes of the overview. */

import { dateTime, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import { held } from '../holds/service.ts';

const count = t.Integer();

const numbers = {
  sent: count,
  failed: count,
  bounced: count,
  complained: count,
  clicked: t.Integer({ description: 'Mails that were clicked for the first time.' }),
  uploads: count,
};
const share = t.Number({ minimum: 0, maximum: 1 });
const rates = named('MailRates', t.Object({ bounced: share, complained: share, clicked: share }));

/** A home page opens with this; home.ts reckons it. */
const home = {
  today: named('DayNumbers', t.Object(numbers)),
  usual: {
    ...nullable(
      named(
        'UsualNumbers',
        t.Object({
          sent: t.Number(),
          failed: t.Number(),
          bounced: t.Number(),
          complained: t.Number(),
          clicked: t.Number(),
          uploads: t.Number(),
        }),
      ),
    ),
    description:
      'The mean of this weekday (UTC) in the four weeks before, of those since anything happened; null where there was none.',
  },
  rates: t.Object(
    { d7: nullable(rates), d30: nullable(rates) },
    { description: 'As shares of what was sent in 7 and 30 days; null where nothing was.' },
  ),
  todo: t.Array(
    named(
      'Todo',
      t.Object({
        kind: oneOf([
          'failed_mail',
          'paused_sequence',
          'paused_broadcast',
          'failed_import',
          'disabled_webhook',
          'expiring_secret',
          'captured_mail',
          'finding',
          'new_person',
        ]),
        count,
        where: t.String({ description: 'The page of the console that shows them.' }),
      }),
    ),
    {
      description:
        'What waits for somebody, by project: mails that failed within a day (1,000 at most), sequences and broadcasts that were not paused by ' +
        'hand, imports of a week that failed, webhooks that were switched off by themselves, and while a project captures its mail what capturing mailboxes kept of it in ' +
        'seven days (1,000 at most); with `can_administer` that is one line for all projects, and the overview has the findings of the ' +
        'last examination and who came in by single sign-on and has no project yet, too.',
    },
  ),
};

export const overview = named(
  'Overview',
  t.Object({
    projects: count,
    api_keys: count,
    objects: t.Object({ count, size_bytes: count }),
    emails: named(
      'EmailCounts',
      t.Object({
        scheduled: count,
        queued: count,
        sending: count,
        sent: count,
        delivered: count,
        bounced: count,
        complained: count,
        suppressed: count,
        failed: count,
        unknown: count,
        canceled: count,
      }),
    ),
    jobs: named(
      'JobCounts',
      t.Object({ pending: count, processing: count, completed: count, failed: count }),
    ),
    email_schedules: count,
    contact_lists: count,
    contacts: count,
    suppressions: count,
    sequences: count,
    hours: t.Array(
      named(
        'MailHour',
        t.Object({ hour: dateTime(), sent: count, bounced: count, complained: count, failed: count }),
      ),
    ),
    days: t.Optional(
      t.Array(
        named(
          'MailDay',
          t.Object({
            date: t.String({ format: 'date', description: 'In UTC.' }),
            sent: count,
            bounced: count,
            complained: count,
            failed: count,
          }),
        ),
        { description: 'With `days` only; the present day is the last.' },
      ),
    ),
    ...home,
    held: {
      ...nullable(held),
      description: 'What a restore holds of these projects, until `POST /release`; null: nothing.',
    },
    machine: t.Optional(
      named(
        'Machine',
        t.Object({ disk_bytes: count, free_disk_bytes: count, database_bytes: count, version: t.String() }),
      ),
    ),
  }),
);
const day = {
  date: t.String({ format: 'date', description: 'In UTC.' }),
  ...numbers,
  bytes: t.Integer({ description: 'What was uploaded, deleted since or not.' }),
};
export const activity = named(
  'Activity',
  t.Object({
    ...home,
    days: t.Array(named('ActivityDay', t.Object(day)), { description: 'The present day is the last.' }),
    last_errors: t.Array(
      t.Object({
        email_id: t.String(),
        status: oneOf(['failed', 'unknown', 'bounced']),
        to: t.String(),
        error: nullable(t.String()),
        at: dateTime(),
      }),
      { description: 'The mails that were not delivered last, ten at most.' },
    ),
    sign_ups: t.Array(
      t.Object({
        contact: t.String(),
        email: t.String(),
        list: t.String(),
        status: t.String({ description: 'Of the contact.' }),
        at: dateTime(),
      }),
      { description: 'Who came to a list last, five at most, by whatever way.' },
    ),
    storage: t.Object({ objects: count, bytes: count }),
    keys: t.Array(t.Object({ id: t.Integer(), name: t.String(), last_used_at: nullable(dateTime()) }), {
      description: 'Those used last come first, 50 at most.',
    }),
  }),
);
export type Activity = Static<typeof activity>;
export type ActivityDay = Activity['days'][number];

export type Overview = Static<typeof overview>;
export type MailDay = NonNullable<Overview['days']>[number];
export type MailHour = Overview['hours'][number];
export type DayNumbers = Overview['today'];
export type Usual = NonNullable<Overview['usual']>;
export type Rates = NonNullable<Overview['rates']['d7']>;
export type Todo = Overview['todo'][number];
