/** Relays of well-known providers, by the names that are given them on the command line. */
import type { RelayParts } from './relay.ts';

/** Each takes submission on port 587 with STARTTLS; the hosts are those of the providers' own pages on SMTP. */
const HOSTS = {
  sendgrid: 'smtp.sendgrid.net',
  mailgun: 'smtp.mailgun.org',
  postmark: 'smtp.postmarkapp.com',
  brevo: 'smtp-relay.brevo.com',
  mailjet: 'in-v3.mailjet.com',
  google: 'smtp.gmail.com',
  microsoft: 'smtp.office365.com',
  fastmail: 'smtp.fastmail.com',
} as const;

export const PROVIDER_FORM = ['ses:REGION', ...Object.keys(HOSTS)].join(' | ');

/** Host, port and TLS of a provider's relay; null where there is none of that name. */
export function findProvider(named: string): Pick<RelayParts, 'host' | 'tls' | 'port'> | null {
  const host = hostOf(named);
  return host === null ? null : { host, port: 587, tls: 'required' };
}

function hostOf(named: string): string | null {
  const [, region] = /^ses:([a-z]{2,3}(?:-[a-z]+)+-\d+)$/.exec(named) ?? [];
  if (region !== undefined) return `email-smtp.${region}.amazonaws.com`;
  return Object.entries(HOSTS).find(([name]) => name === named)?.[1] ?? null;
}

/** What a provider has everybody log in as, where it is always the same, or the password once more. */
export function usualUserOf(named: string, password: string): string | null {
  if (named === 'sendgrid') return 'apikey';
  return named === 'postmark' ? password : null;
}
