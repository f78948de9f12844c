/** Relays of well-known providers, by the names that are given them on the command line. */
import { EVENT_PROVIDERS, PROVIDERS as EVENTS } from '../relay-events/service.ts';
import type { RelayParts } from './relay.ts';
import type { MailboxRow } from './tables.ts';

/**
 * Each takes submission on port 587 with STARTTLS; hosts and other ports are those of the providers' own pages on
 * SMTP. A port that ends in 465 begins with TLS.
 */
const PROVIDERS = {
  ses: ['Amazon SES', 'email-smtp.REGION.amazonaws.com', [2587, 2465]],
  sendgrid: ['SendGrid', 'smtp.sendgrid.net', [2525]],
  mailgun: ['Mailgun', 'smtp.mailgun.org', [2525]],
  postmark: ['Postmark', 'smtp.postmarkapp.com', [2525]],
  brevo: ['Brevo', 'smtp-relay.brevo.com', [2525]],
  mailjet: ['Mailjet', 'in-v3.mailjet.com', [2525, 588, 80]],
  resend: ['Resend', 'smtp.resend.com', [2587, 2465]],
  google: ['Google Workspace', 'smtp.gmail.com', []],
  microsoft: ['Microsoft 365', 'smtp.office365.com', []],
  fastmail: ['Fastmail', 'smtp.fastmail.com', []],
} as const satisfies Record<string, readonly [label: string, host: string, other_ports: readonly number[]]>;
const SUBMISSION = { port: 587, tls: 'required' } as const;
const REGION = 'REGION';

export const PROVIDER_FORM = Object.entries(PROVIDERS)
  .map(([name, [, host]]) => (host.includes(REGION) ? `${name}:${REGION}` : name))
  .join(' | ');

/** All of them, for a form; a `host` with REGION in it is that of a region. */
export function listProviders() {
  return Object.entries(PROVIDERS).map(([name, [label, host, other_ports]]) => {
    const told = EVENT_PROVIDERS.find((each) => each === name);
    const events = told ? { place: EVENTS[told].place, ticks: EVENTS[told].ticks } : null;
    const user = usualUserOf(name, null);
    return { name, label, host, ...SUBMISSION, other_ports: [...other_ports], user, events };
  });
}

/** The name of the provider whose relay a host is; null where it is of none of them. */
export function providerAt(host: string): string | null {
  const isOf = (pattern: string): boolean => {
    const [before = '', after] = pattern.split(REGION, 2);
    return after === undefined ? host === pattern : host.startsWith(before) && host.endsWith(after);
  };
  return Object.entries(PROVIDERS).find(([, [, pattern]]) => isOf(pattern))?.[0] ?? null;
}

/** Host, port and TLS of a provider's relay; null where there is none of that name. */
export function findProvider(named: string): Pick<RelayParts, 'host' | 'tls' | 'port'> | null {
  const host = hostOf(named);
  return host === null ? null : { host, ...SUBMISSION };
}

function hostOf(named: string): string | null {
  const [name, region] = named.split(':', 2);
  const host = Object.entries(PROVIDERS).find(([each]) => each === name)?.[1][1] ?? null;
  if (host === null || host.includes(REGION) !== (region !== undefined)) return null;
  if (region === undefined) return host;
  return /^[a-z]{2,3}(?:-[a-z]+)+-\d+$/.test(region) ? host.replace(REGION, region) : null;
}

/**
 * What a provider has everybody log in as, where it is always the same, or the password once more, where that
 * is known.
 */
export function usualUserOf(named: string, password: string | null): string | null {
  if (named === 'sendgrid') return 'apikey';
  if (named === 'resend') return 'resend';
  return named === 'postmark' ? password : null;
}

/** A connection that was not answered, in the mailer's words and the system's. */
const TIMED_OUT = /\bwithin [\d.]+ s\b|timed? ?out/i;
const USUAL_PORTS = [25, 465, 587];

/** Where else a provider takes mail, as hosters close the usual ports; null where that is no reason. */
export function otherPortsHint(relay: { host: string; port: number }, words: string): string | null {
  const name = providerAt(relay.host);
  const [, [label, , ports]] = Object.entries(PROVIDERS).find(([each]) => each === name) ?? [
    '',
    ['', '', []],
  ];
  if (!TIMED_OUT.test(words) || !USUAL_PORTS.includes(relay.port) || ports.length === 0) return null;
  const told = ports.map((port) => (port % 1000 === 465 ? `${port} with TLS` : String(port)));
  return `Many hosting providers close port ${relay.port}. ${label} takes mail on ${told.join(', ')} as well.`;
}

/** What a relay's mailbox was told, with that hint where it is one. */
export function withPortsHint(
  response: string,
  { smtp_host: host, smtp_port: port }: Pick<MailboxRow, 'smtp_host' | 'smtp_port'>,
): string {
  const hint = host !== null && port !== null ? otherPortsHint({ host, port }, response) : null;
  return hint === null ? response : `${response} ${hint}`;
}
