/** Whether a relay's name can be looked up in reasonable time, without blocking the thread pool. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { monotonicMs } from '../host/clock.ts';
import { isLoopback } from '../host/loopback.ts';
import type { Resolver } from './dns.ts';

/** A relay's name without an answer for so long is not left to the system, which would block a thread. */
const SLOW_RELAY_NAME_MS = 1_000;

/**
 * Null where the system may look the name up, else why that would take long. Its look-up (getaddrinfo) takes
 * one of few threads that also sign mails and read files: two relays with silent name servers would hold up
 * all of those for 10 s. `slow_ms` and `hosts_path` are for tests.
 */
export async function whyUnanswered(
  host: string,
  options: { resolver: Resolver; hosts_path?: string; slow_ms?: number },
): Promise<string | null> {
  const { resolver, hosts_path = '/etc/hosts', slow_ms = SLOW_RELAY_NAME_MS } = options;
  // A name of one label is for the system's search list.
  if (isIP(host) !== 0 || isLoopback(host) || !host.includes('.')) return null;
  const hosts = await readFile(hosts_path, 'utf8').catch(() => '');
  if (hosts.toLowerCase().split(/\s+/).includes(host.toLowerCase())) return null;
  const asked_ms = monotonicMs();
  const answer = await resolver.lookupAddresses(host);
  // A quick failure is quick in the system's look-up, too, and the system may know other sources.
  if (answer.status !== 'unknown' || monotonicMs() - asked_ms < slow_ms) return null;
  return `The server's name could not be looked up: ${answer.reason}.`;
}
