/** The DNS records of a sending domain: what to publish, and judging what is found. */

import { isLoopback } from '../platform/host/loopback.ts';
import type { Lookup, Resolver } from '../platform/mail/dns.ts';
import type { DomainRow } from './tables.ts';

export type RecordPurpose = 'ownership' | 'spf' | 'dkim' | 'dmarc';

/** A TXT record that the owner of the domain publishes. */
export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'TXT';
  name: string;
  value: string;
}

/** `unknown`: nobody answered, so nothing is known either way. */
export type RecordStatus = 'found' | 'missing' | 'wrong' | 'unknown';

export interface RecordCheck extends DnsRecord {
  status: RecordStatus;
  /** What stands there now. */
  found: string | null;
  problem: string | null;
}

export type Verdict = Pick<RecordCheck, 'status' | 'found' | 'problem'>;
type DomainKeys = Pick<DomainRow, 'name' | 'ownership_token' | 'dkim_selector' | 'dkim_public_key'>;

/** The records to publish. `relays` are the hosts that send for the domain; SPF names them. */
export function recordsToPublish(domain: DomainKeys, relays: readonly string[]): DnsRecord[] {
  const senders = ['a', 'mx', ...relays.filter(isSeenByReceivers).map((host) => senderOf(host))];
  const spf = `v=spf1 ${[...new Set(senders)].join(' ')} ~all`;
  return [
    { purpose: 'ownership', type: 'TXT', name: `_satchel.${domain.name}`, value: ownershipValue(domain) },
    { purpose: 'spf', type: 'TXT', name: domain.name, value: spf },
    {
      purpose: 'dkim',
      type: 'TXT',
      name: `${domain.dkim_selector}._domainkey.${domain.name}`,
      value: `v=DKIM1; k=rsa; p=${domain.dkim_public_key}`,
    },
    {
      purpose: 'dmarc',
      type: 'TXT',
      name: `_dmarc.${domain.name}`,
      value: `v=DMARC1; p=quarantine; rua=mailto:postmaster@${domain.name}`,
    },
  ];
}

function ownershipValue(domain: DomainKeys): string {
  return `satchel-verification=${domain.ownership_token}`;
}

/** A relay on this machine, or one with a name of the local network alone, sends from an address that only its owner knows. */
function isSeenByReceivers(host: string): boolean {
  return !isLoopback(host) && (host.includes('.') || host.includes(':'));
}

function senderOf(host: string): string {
  if (host.includes(':')) return `ip6:${host}`;
  return /^[\d.]+$/.test(host) ? `ip4:${host}` : `a:${host}`;
}

/** Looks every record up and judges it. Never throws: what nobody answers is `unknown`. */
export async function checkRecords(
  resolver: Resolver,
  domain: DomainKeys,
  relays: readonly string[],
): Promise<RecordCheck[]> {
  return Promise.all(
    recordsToPublish(domain, relays).map(async (record) => ({
      ...record,
      ...(await checkRecord(resolver, record, domain)),
    })),
  );
}

async function checkRecord(resolver: Resolver, record: DnsRecord, domain: DomainKeys): Promise<Verdict> {
  if (record.purpose === 'dmarc') return checkDmarc(resolver, domain.name);
  const lookup = await resolver.lookupTxt(record.name);
  if (record.purpose === 'spf') return judgeSpf(lookup);
  if (record.purpose === 'dkim') return judgeDkim(lookup, domain.dkim_public_key);
  return judgeOwnership(lookup, record.value);
}

const MISSING: Verdict = { status: 'missing', found: null, problem: 'There is no such record.' };

function recordsOf(lookup: Lookup<string>): string[] | Verdict {
  if (lookup.status === 'unknown') {
    const problem = `The DNS gave no answer, so nothing is known: ${lookup.reason}.`;
    return { status: 'unknown', found: null, problem };
  }
  return lookup.status === 'absent' ? [] : lookup.records;
}

function wrong(found: string, problem: string): Verdict {
  return { status: 'wrong', found, problem };
}

function judgeOwnership(lookup: Lookup<string>, value: string): Verdict {
  const records = recordsOf(lookup);
  if (!Array.isArray(records)) return records;
  if (records.some((record) => record.trim() === value))
    return { status: 'found', found: value, problem: null };
  const other = records.find((record) => record.startsWith('satchel-verification='));
  return other === undefined ? MISSING : wrong(other, 'The record holds another token.');
}

/** RFC 7208: one record alone, and it must let somebody send. Whether it covers the relay only the relay's owner knows. */
export function judgeSpf(lookup: Lookup<string>): Verdict {
  const records = recordsOf(lookup);
  if (!Array.isArray(records)) return records;
  const spf = records.filter((record) => /^v=spf1(\s|$)/i.test(record));
  const [only] = spf;
  if (only === undefined) return MISSING;
  if (spf.length > 1)
    return wrong(spf.join(' | '), 'There are several SPF records; receivers then use none of them.');
  const terms = only.trim().split(/\s+/).slice(1);
  if (terms.some((term) => /^\+?all$/i.test(term)))
    return wrong(only, 'The record lets everybody send (+all).');
  const senders = terms.filter((term) => !/^[-~?]?all$/i.test(term) && !/^(exp|[-~?])/i.test(term));
  return senders.length === 0
    ? wrong(only, 'The record lets nobody send.')
    : { status: 'found', found: only, problem: null };
}

/** RFC 6376 3.6.1, and the key must be ours. */
export function judgeDkim(lookup: Lookup<string>, public_key: string): Verdict {
  const records = recordsOf(lookup);
  if (!Array.isArray(records)) return records;
  const [first] = records;
  if (first === undefined) return MISSING;
  const ours = records.find((record) => tagsOf(record).get('p')?.replace(/\s+/g, '') === public_key);
  if (ours === undefined)
    return wrong(first, 'The record holds another key than the one mail is signed with.');
  const key_type = tagsOf(ours).get('k') ?? 'rsa';
  return key_type === 'rsa'
    ? { status: 'found', found: ours, problem: null }
    : wrong(ours, 'The key is marked as no RSA key.');
}

/** RFC 7489 6.6.3: the policy of the domain itself, else that of the next parent which has one. */
export async function checkDmarc(resolver: Resolver, domain: string): Promise<Verdict> {
  const labels = domain.split('.');
  for (let start = 0; start <= labels.length - 2; start += 1) {
    const verdict = judgeDmarc(await resolver.lookupTxt(`_dmarc.${labels.slice(start).join('.')}`));
    if (verdict.status !== 'missing') return verdict;
  }
  return MISSING;
}

function judgeDmarc(lookup: Lookup<string>): Verdict {
  const records = recordsOf(lookup);
  if (!Array.isArray(records)) return records;
  const policies = records.filter((record) => /^v\s*=\s*DMARC1\s*(;|$)/i.test(record));
  const [only] = policies;
  if (only === undefined) return MISSING;
  if (policies.length > 1)
    return wrong(policies.join(' | '), 'There are several DMARC records; receivers then use none of them.');
  const policy = tagsOf(only).get('p')?.toLowerCase() ?? '';
  return ['none', 'quarantine', 'reject'].includes(policy)
    ? { status: 'found', found: only, problem: null }
    : wrong(only, 'The record has no policy: p= must be none, quarantine or reject.');
}

function tagsOf(record: string): Map<string, string> {
  return new Map(
    record.split(';').map((tag) => {
      const at = tag.indexOf('=');
      return [tag.slice(0, Math.max(at, 0)).trim().toLowerCase(), tag.slice(at + 1).trim()];
    }),
  );
}
