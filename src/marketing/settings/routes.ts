/** Endpoints of a project's marketing settings. */
import {
  MAX_DISPLAY_NAME_CHARS,
  MAX_MARKETING_ACCOUNTS,
  MAX_NAME_CHARS,
  MAX_POSTAL_ADDRESS_CHARS,
  MAX_TIMEZONE_CHARS,
  MAX_URL_CHARS,
} from '../../limits.ts';
import { marketingRoute } from '../../platform/http/marketing-route.ts';
import type { ProjectCaller, Route } from '../../platform/http/routes.ts';
import {
  changesOf,
  emailAddress,
  named,
  nullable,
  type Static,
  t,
  text,
  webUrl,
} from '../../platform/http/schema.ts';
import type { Marketing } from './service.ts';

const TAG = 'Marketing settings';

const optional = {
  from_name: nullable(
    text({ max: MAX_DISPLAY_NAME_CHARS, description: 'Needed before a sequence can be activated.' }),
  ),
  reply_to: nullable(emailAddress()),
  postal_address: nullable(
    text({
      max: MAX_POSTAL_ADDRESS_CHARS,
      description: "In each mail's footer; needed before a sequence can be activated.",
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
    description: 'A sequence pauses when this share of its last 100 sends bounced.',
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
const shown_settings = named(
  'MarketingSettings',
  t.Object({
    ...settings.properties,
    accounts: t.Optional(accounts),
    mailboxes: t.Optional(mailboxes),
    captured: t.Optional(
      t.Boolean({
        description:
          'With `dns=1`: all of them capture, so that nobody gets mail, and sequences start whatever the records are.',
      }),
    ),
    problem_of_links: t.Optional(
      nullable(
        t.String({ description: 'With `dns=1`: why links in mails would lead their readers nowhere.' }),
      ),
    ),
  }),
);
const changes = named(
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

export function marketingRoutes({ marketing }: { marketing: Marketing }): Route[] {
  /** What a caller may change: others' changes of mailboxes are ignored. */
  const own = (caller: ProjectCaller, sent: Partial<Static<typeof changes>>) => {
    const { accounts: _, ...rest } = sent;
    return caller.manager ? sent : rest;
  };
  /** Which mailboxes there are is the deployment's business: only the management plane shows and sets them. */
  const shown = (caller: ProjectCaller) => {
    const { accounts: named, ...rest } = marketing.settings(caller.project.id);
    return caller.manager ? { ...rest, accounts: named } : rest;
  };
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-marketing/settings',
      tag: TAG,
      summary: 'Marketing settings of the project',
      unversioned: ['mailboxes', 'captured', 'problem_of_links'],
      description: 'The management plane adds `accounts`, the mailboxes that marketing may go out from.',
      query: t.Object({ dns: t.Optional(t.Boolean({ description: 'Adds `mailboxes`, looked up now.' })) }),
      response: shown_settings,
      handle: ({ caller, query }) =>
        query.dns
          ? marketing.checkMailboxes(caller.project.id).then((mailboxes) => ({
              ...shown(caller),
              mailboxes,
              captured: marketing.isCaptured(caller.project.id),
              problem_of_links: marketing.problemOfLinks(caller.project.id),
            }))
          : shown(caller),
    }),
    ...marketingRoute({
      method: 'PATCH',
      path: '/email-marketing/settings',
      tag: TAG,
      summary: 'Change marketing settings',
      description: 'Only what is sent changes; null clears an optional field.',
      body: changes,
      example: {
        from_name: 'Shop',
        postal_address: 'Shop, 1 High Street, Springfield',
        brand_color: '#1a73e8',
      },
      response: shown_settings,
      check: ({ caller, body }) => marketing.check(caller.project.id, own(caller, body)),
      handle: async ({ caller, body }) => {
        await marketing.change(caller.project.id, own(caller, body), caller.note);
        return shown(caller);
      },
    }),
  ];
}
