/** Shapes of requests and answers about a project's marketing settings. */
import {
  MAX_DISPLAY_NAME_CHARS,
  MAX_MARKETING_ACCOUNTS,
  MAX_NAME_CHARS,
  MAX_POSTAL_ADDRESS_CHARS,
  MAX_TIMEZONE_CHARS,
  MAX_URL_CHARS,
} from '../../limits.ts';
import { changesOf, emailAddress, named, nullable, t, text, webUrl } from '../../platform/http/schema.ts';

const optional = {
  from_name: nullable(
    text({
      max: MAX_DISPLAY_NAME_CHARS,
      description: 'Needed before a sequence can be activated or a broadcast sent.',
    }),
  ),
  reply_to: nullable(emailAddress()),
  postal_address: nullable(
    text({
      max: MAX_POSTAL_ADDRESS_CHARS,
      description: "In each mail's footer; needed before a sequence can be activated or a broadcast sent.",
    }),
  ),
  brand_name: nullable(text({ max: MAX_NAME_CHARS })),
  brand_color: nullable(text({ max: 7, description: 'Such as #1a73e8.' })),
  brand_logo_url: nullable(webUrl(MAX_URL_CHARS)),
  brand_website_url: nullable(webUrl(MAX_URL_CHARS)),
  daily_cap: nullable(
    t.Integer({ minimum: 1, description: 'Marketing mails of the project a UTC day; null for no cap.' }),
  ),
  send_window_start: nullable(
    text({ max: 5, description: 'HH:MM in `timezone`; a start after the end crosses midnight.' }),
  ),
  send_window_end: nullable(text({ max: 5, description: 'HH:MM; null together with the start: always.' })),
};
const required = {
  enabled: t.Boolean({ description: 'Default false.' }),
  timezone: text({ min: 1, max: MAX_TIMEZONE_CHARS, description: 'IANA zone; default UTC.' }),
  bounce_pause_threshold_percent: t.Number({
    minimum: 0.1,
    maximum: 100,
    description: 'A sequence or broadcast pauses when this share of its last 100 sends bounced.',
  }),
};
const accounts = t.Array(t.String(), {
  maxItems: MAX_MARKETING_ACCOUNTS,
  description: 'Addresses of mailboxes; empty means every active marketing mailbox.',
});

const settings = t.Object({ ...required, ...optional });
const dns_check = named(
  'DnsCheck',
  t.Object({ ok: t.Boolean(), record: nullable(t.String()), problem: nullable(t.String()) }),
);
const mailboxes = t.Array(
  t.Object({ address: t.String(), spf: dns_check, dkim: dns_check, dmarc: dns_check }),
  { description: 'With `dns=1`: what receivers find of each mailbox.' },
);
/** `accounts` on the management plane, `mailboxes` where they were asked for. */
export const shown_settings = named(
  'MarketingSettings',
  t.Object({
    ...settings.properties,
    accounts: t.Optional(accounts),
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
export const changes = named(
  'MarketingSettingsChanges',
  changesOf({
    from_name: optional.from_name,
    reply_to: optional.reply_to,
    postal_address: optional.postal_address,
    brand_name: optional.brand_name,
    brand_color: optional.brand_color,
    brand_logo_url: optional.brand_logo_url,
    brand_website_url: optional.brand_website_url,
    daily_cap: optional.daily_cap,
    send_window_start: optional.send_window_start,
    send_window_end: optional.send_window_end,
    enabled: required.enabled,
    timezone: required.timezone,
    bounce_pause_threshold_percent: required.bounce_pause_threshold_percent,
    accounts: accounts,
  }),
);
