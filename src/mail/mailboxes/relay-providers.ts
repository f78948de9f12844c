/** Relays of well-known providers, by the names that are given them on the command line. */
import type { RelayParts } from './relay.ts';

/**
 * Each takes submission on port 587 with STARTTLS; the hosts are those of the providers' own pages on SMTP.
 */
const PROVIDERS = {
  ses: ['Amazon SES', 'email-smtp.REGION.amazonaws.com'],
  sendgrid: ['SendGrid', 'smtp.sendgrid.net'],
  mailgun: ['Mailgun', 'smtp.mailgun.org'],
  postmark: ['Postmark', 'smtp.postmarkapp.com'],
  brevo: ['Brevo', 'smtp-relay.brevo.com'],
  mailjet: ['Mailjet', 'in-v3.mailjet.com'],
  google: ['Google Workspace', 'smtp.gmail.com'],
  microsoft: ['Microsoft 365', 'smtp.office365.com'],
  fastmail: ['Fastmail', 'smtp.fastmail.com'],
} as const satisfies Record<string, readonly [label: string, host: string]>;
const SUBMISSION = { port: 587, tls: 'required' } as const;
const REGION = 'REGION';

export const PROVIDER_FORM = Object.entries(PROVIDERS)
  .map(([name, [, host]]) => (host.includes(REGION) ? `${name}:${REGION}` : name))
  .join(' | ');

/** All of them, for a form; a `host` with REGION in it is that of a region. */
export function listProviders() {
  return Object.entries(PROVIDERS).map(([name, [label, host]]) => ({
    name,
    label,
    host,
    ...SUBMISSION,
    user: usualUserOf(name, null),
  }));
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
  return named === 'postmark' ? password : null;
}
