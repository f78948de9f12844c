/** Shapes of what a restore holds. */
import { dateTime, named, nullable, type Static, t } from '../../platform/http/schema.ts';

const count = t.Integer();
const kinds = {
  mails: count,
  sequences: count,
  broadcasts: count,
  schedules: count,
  deliveries: t.Integer({ description: 'Of webhooks.' }),
  jobs: t.Integer({ description: 'Sign-ups, and runs of schedules.' }),
};

export const held = named(
  'Held',
  t.Object({
    since: dateTime(),
    backup: t.Object({
      file: { ...nullable(t.String()), description: 'Null where it came by standard input.' },
      created_at: dateTime(),
    }),
    ...kinds,
  }),
);
export type HeldRecord = Static<typeof held>;

export const released = named(
  'Released',
  t.Object({
    went_on: t.Object(kinds),
    dropped: t.Object(
      {
        mails: count,
        broadcasts: count,
        deliveries: count,
        jobs: count,
        enrollments: t.Integer({ description: 'Those whose steps were skipped.' }),
      },
      { description: 'What counts as done.' },
    ),
  }),
);
export type ReleasedRecord = Static<typeof released>;
