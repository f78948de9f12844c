/** How SPF names what sends for a domain: a relay's host, or the record of the provider whose relay it is. */
import { isIPv4 } from 'node:net';
import { isLoopback } from '../../platform/host/loopback.ts';

/** What providers ask their customers to include, by the hosts that they give them for submission. */
const PROVIDERS: readonly { hosts: RegExp; include: string }[] = [
  { hosts: /^email-smtp(-fips)?\.[a-z0-9-]+\.amazonaws\.com$/, include: 'amazonses.com' },
  { hosts: /(^|\.)sendgrid\.net$/, include: 'sendgrid.net' },
  { hosts: /(^|\.)mailgun\.org$/, include: 'mailgun.org' },
  { hosts: /(^|\.)postmarkapp\.com$/, include: 'spf.mtasv.net' },
  { hosts: /(^|\.)(brevo|sendinblue)\.com$/, include: 'spf.brevo.com' },
  { hosts: /(^|\.)mailjet\.com$/, include: 'spf.mailjet.com' },
  { hosts: /(^|\.)(gmail|google|googlemail)\.com$/, include: '_spf.google.com' },
  { hosts: /(^|\.)(office365|outlook|hotmail)\.com$/, include: 'spf.protection.outlook.com' },
  { hosts: /(^|\.)(fastmail|messagingengine)\.com$/, include: 'spf.messagingengine.com' },
];

/** The terms of SPF for these relays, each once. */
export function sendersOf(relays: readonly string[]): string[] {
  const seen = relays.map((host) => host.toLowerCase()).filter(isSeenByReceivers);
  return [...new Set(seen.map(senderOf))];
}

/** A relay on this machine, or one with a name of the local network alone, sends from an address that only its owner knows. */
function isSeenByReceivers(host: string): boolean {
  return !isLoopback(host) && (host.includes('.') || host.includes(':'));
}

function senderOf(host: string): string {
  const provider = PROVIDERS.find(({ hosts }) => hosts.test(host));
  if (provider) return `include:${provider.include}`;
  if (host.includes(':')) return `ip6:${host}`;
  return isIPv4(host) ? `ip4:${host}` : `a:${host}`;
}
