/** The fields of a project's marketing settings, and the shapes of requests and answers about them. */
import { MAX_DISPLAY_NAME_CHARS, MAX_NAME_CHARS, MAX_TIMEZONE_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import { changesOfFields, optional, preset, recordOf, type Values } from '../../platform/http/fields.ts';
import {
  emailAddress,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  text,
  webUrl,
} from '../../platform/http/schema.ts';
import { TRACKING_MODES } from './tables.ts';

/** Of the last 100 sends or more: at 5 % large receivers distrust a sender; healthy lists stay below 2 %. */
const DEFAULT_BOUNCE_PAUSE_THRESHOLD_PERCENT = 5;
/** A footer's postal address. */
const MAX_POSTAL_ADDRESS_CHARS = 500;
/** Mailboxes that a project's marketing may name. */
const MAX_MARKETING_ACCOUNTS = 100;

export const FIELDS = {
  enabled: preset(false, t.Boolean({ description: 'Default false.' }), {
    option: '--enabled',
    says: 'marketing mail may go out',
    unset: 'none does',
  }),
  from_name: optional(
    null,
    text({
      max: MAX_DISPLAY_NAME_CHARS,
      description: 'Needed before a sequence can be activated or a broadcast sent.',
    }),
    { option: '--from-name <name>', says: 'who its mails come from' },
  ),
  reply_to: optional(null, emailAddress(), { option: '--reply-to <address>', says: 'where answers go' }),
  postal_address: optional(
    null,
    text({
      max: MAX_POSTAL_ADDRESS_CHARS,
      description: "In each mail's footer; needed before a sequence can be activated or a broadcast sent.",
    }),
    { option: '--postal-address <address>', says: 'in the footer of each mail' },
  ),
  brand_name: optional(null, text({ max: MAX_NAME_CHARS }), {
    option: '--brand-name <name>',
    says: 'the name on pages and in mails',
  }),
  brand_color: optional(null, text({ max: 7, description: 'Such as #1a73e8.' }), {
    option: '--brand-color <color>',
    says: 'such as #1a73e8',
  }),
  brand_logo_url: optional(null, webUrl(MAX_URL_CHARS), {
    option: '--brand-logo <url>',
    says: 'an https address',
  }),
  brand_website_url: optional(null, webUrl(MAX_URL_CHARS), {
    option: '--brand-website <url>',
    says: 'where the logo leads',
  }),
  daily_cap: optional(
    null,
    t.Integer({ minimum: 1, description: 'Marketing mails of the project a UTC day; null for no cap.' }),
    { option: '--daily-cap <n>', says: 'marketing mails a UTC day' },
  ),
  send_window_start: optional(
    null,
    text({ max: 5, description: 'HH:MM in `timezone`; a start after the end crosses midnight.' }),
  ),
  send_window_end: optional(
    null,
    text({ max: 5, description: 'HH:MM; null together with the start: always.' }),
  ),
  timezone: preset('UTC', text({ min: 1, max: MAX_TIMEZONE_CHARS, description: 'IANA zone; default UTC.' }), {
    option: '--timezone <zone>',
    says: 'the IANA zone of the window',
  }),
  bounce_pause_threshold_percent: preset(
    DEFAULT_BOUNCE_PAUSE_THRESHOLD_PERCENT,
    t.Number({
      minimum: 0.1,
      maximum: 100,
      description: 'A sequence or broadcast pauses when this share of its last 100 sends bounced.',
    }),
    {
      option: '--bounce-threshold <percent>',
      says: 'a sequence pauses when so many of its last 100 bounced',
    },
  ),
  tracking: preset(
    'all',
    {
      ...oneOf(TRACKING_MODES),
      description:
        '`all`: opens and clicks count unless somebody refused; `consented`: only of who allowed it. All others get mail without ' +
        'picture, links of ours, UTM and `contact_token`.',
    },
    {
      option: '--tracking <whose>',
      says: 'whose opens and clicks are counted: all unless they refused, or consented',
    },
  ),
  view_link: preset(
    true,
    t.Boolean({
      description:
        'Default true. The layout begins with a link to the mail in a browser, which `{{view_url}}` leads to as well.',
    }),
    {
      option: '--view-link',
      says: 'the layout begins with a link to the mail in a browser',
      unset: 'it does not',
    },
  ),
  accounts: preset(
    [],
    t.Array(t.String(), {
      maxItems: MAX_MARKETING_ACCOUNTS,
      description: 'Addresses of mailboxes; empty means every active marketing mailbox.',
    }),
    {
      option: '--accounts <addresses>',
      says: 'the only mailboxes it goes out from; empty: every one for marketing',
    },
  ),
};
export type Settings = Values<typeof FIELDS>;

const dns_check = named(
  'DnsCheck',
  t.Object({ ok: t.Boolean(), record: nullable(t.String()), problem: nullable(t.String()) }),
);
const mailboxes = t.Array(
  t.Object({ address: t.String(), spf: dns_check, dkim: dns_check, dmarc: dns_check }),
  { description: 'With `dns=1`: what receivers find of each mailbox.' },
);
const { accounts, ...settings } = recordOf(FIELDS).properties;
/** `accounts` and `lacks` on the management plane, `mailboxes` where they were asked for. */
export const shown_settings = named(
  'MarketingSettings',
  t.Object({
    ...settings,
    accounts: t.Optional(accounts),
    lacks: t.Optional(
      t.Array(t.Object({ code: t.String(), message: t.String() }), {
        description:
          'What the check of any sequence or broadcast would find missing, as far as no DNS is asked.',
      }),
    ),
    mailboxes: t.Optional(mailboxes),
    captured: t.Optional(
      t.Boolean({
        description:
          'With `dns=1`: all of them capture, so that nobody gets mail, and sequences and broadcasts start whatever the records are.',
      }),
    ),
    problem_of_links: t.Optional(
      nullable(
        t.String({ description: 'With `dns=1`: why links in mails would lead their readers nowhere.' }),
      ),
    ),
  }),
);
export const changes = named('MarketingSettingsChanges', changesOfFields(FIELDS));
export type SettingsChanges = Partial<Static<typeof changes>>;
