/** Whether a relay's name can be looked up at all, found out without holding up what else the process waits for. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isLoopback } from '../host/loopback.ts';
import type { Resolver } from './dns.ts';

/**
 * Null where the system may look the name up, else why that would take long. Its own look-up (getaddrinfo) keeps a thread of the
 * few that also sign mails and read files: two relays whose name servers say nothing would hold all of those up for 10 s.
 */
export async function whyUnanswered(
  host: string,
  { resolver, hosts_path = '/etc/hosts' }: { resolver: Resolver; hosts_path?: string },
): Promise<string | null> {
  // A name of one label is for the system's search list.
  if (isIP(host) !== 0 || isLoopback(host) || !host.includes('.')) return null;
  const hosts = await readFile(hosts_path, 'utf8').catch(() => '');
  if (hosts.toLowerCase().split(/\s+/).includes(host.toLowerCase())) return null;
  const answer = await resolver.lookupAddresses(host);
  return answer.status === 'unknown' ? `The relay's name could not be looked up: ${answer.reason}.` : null;
}
