/** Whether a domain takes mail, as the DNS has it: the look-ups of the pipeline. */
import type { Resolver } from '../platform/mail/dns.ts';

/** `unknown`: nobody told us in time; never a verdict about the domain. */
export type MailDomain = 'takes_mail' | 'takes_none' | 'unknown';

/**
 * Asks for MX records, and for addresses where there are none: mail falls back to those (RFC 5321, 5.1). A null MX
 * (RFC 7505) says that the domain takes no mail at all.
 */
export async function lookUpMailDomain(resolver: Resolver, domain: string): Promise<MailDomain> {
  const mx = await resolver.lookupMx(domain);
  if (mx.status === 'unknown') return 'unknown';
  if (mx.status === 'absent') return 'takes_none';
  if (mx.records.length > 0)
    return mx.records.some(({ exchange }) => exchange !== '.') ? 'takes_mail' : 'takes_none';
  const addresses = await resolver.lookupAddresses(domain);
  if (addresses.status === 'unknown') return 'unknown';
  return addresses.status === 'found' && addresses.records.length > 0 ? 'takes_mail' : 'takes_none';
}

/** As `lookUpMailDomain` for many domains, each asked once; at most `at_once` look-ups run at a time. */
export async function lookUpMailDomains(
  resolver: Resolver,
  domains: Iterable<string>,
  at_once: number,
): Promise<Map<string, MailDomain>> {
  const found = new Map<string, MailDomain>();
  const waiting = [...new Set(domains)].values();
  const work = async (): Promise<void> => {
    for (const domain of waiting) found.set(domain, await lookUpMailDomain(resolver, domain));
  };
  await Promise.all(Array.from({ length: at_once }, work));
  return found;
}
