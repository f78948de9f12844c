/** Shapes of whom doctor tells, and of what it keeps of that. */
import { MAX_URL_CHARS } from '../../limits.ts';
import {
  changesOfFields,
  momentOrNull,
  optional,
  preset,
  type RecordOfFields,
  recordOf,
  shown,
} from '../../platform/http/fields.ts';
import { emailAddress, named, nullable, oneOf, type Static, t, webUrl } from '../../platform/http/schema.ts';
import { ALERT_FORMATS } from './tables.ts';

/** Decision: how many may be mailed: each gets a mail of its own. */
const MAX_ADDRESSES = 10;

export const FIELDS = {
  email: optional([], t.Array(emailAddress(), { maxItems: MAX_ADDRESSES }), {
    option: '--email <addresses>',
    says: `who is mailed, ${MAX_ADDRESSES} at most, by commas`,
  }),
  url: optional(null, {
    ...webUrl(MAX_URL_CHARS),
    description:
      'What is told, by POST. It is a secret: an answer has its scheme and host alone. Plain http, and addresses of private networks, only where SATCHEL_WEBHOOK_ALLOW has the host.',
  }),
  format: optional(null, oneOf(ALERT_FORMATS), {
    option: '--format <format>',
    says: 'what stands behind the URL; json unless given',
  }),
  backups_here: preset(
    true,
    t.Boolean({ description: 'False: somebody else keeps backups, and none is missed here.' }),
    {
      option: '--backups-here',
      says: 'say so where no backup was made or verified here for days',
      unset_option: '--no-backups-here',
      unset: 'somebody else keeps backups: miss none here',
    },
  ),
  last_sent_at: momentOrNull('when an alert or a test was last taken'),
  problem: shown(nullable(t.String()), 'why alerts do not arrive somewhere'),
};

export const alertsRecord = named('Alerts', recordOf(FIELDS));
export type AlertsRecord = RecordOfFields<typeof FIELDS>;
export const alertsChanges = changesOfFields(FIELDS);
export type AlertsChanges = Static<typeof alertsChanges>;

export const alertsTest = named(
  'AlertsTest',
  t.Object({
    email: t.Array(
      t.Object({
        to: t.String(),
        ok: t.Boolean({ description: 'A relay has taken it.' }),
        words: nullable(t.String({ description: 'Why none has.' })),
      }),
    ),
    url: nullable(
      t.Object({
        ok: t.Boolean(),
        status: nullable(t.Integer({ description: 'What it answered; null where it did not.' })),
        words: nullable(t.String({ description: 'Why it was not taken.' })),
      }),
    ),
  }),
);
export type AlertsTest = Static<typeof alertsTest>;

/* --- What is kept ---------------------------------------------------------------------------------------------------- */

/** A problem that somebody was told of, or is to be. */
export interface Known {
  check: string;
  message: string;
  remedy: string | null;
  since: number;
  /** When it was mended; null while it lasts. */
  ended: number | null;
  /** It is looked at each minute: that it is mended is not left to the hourly look. */
  is_urgent: boolean;
  /** By each way that it was told: when it was last. */
  told: Record<string, number>;
}

/** By the id of the finding. */
export type KnownFindings = Record<string, Known>;

/** How alerts do by one way. */
export interface WayState {
  /** When its last messages of an hour were taken. */
  sent: number[];
  /** Those that failed since one was taken. */
  tries: number;
  next_try: number;
  /** Why, once several tries have failed; null while it is not known to fail. */
  failure: string | null;
}

/** By the address that is mailed, or `url`. */
export type Ways = Record<string, WayState>;
