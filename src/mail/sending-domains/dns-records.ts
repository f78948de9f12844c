/**
 * The DNS records of a sending domain: what to publish, where (who runs its DNS, as its name servers' names say it),
 * what is advised, and looking up what is there.
 */
import { toIso } from '../../platform/host/clock.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { checkDmarc, judgeDkim, judgeOwnership, type RecordVerdict } from './record-judging.ts';
import type { BounceCheck, DnsRecord, RecordCheck } from './schemas.ts';
import { checkSpf, sendersOf } from './spf.ts';
import type { DomainRow } from './tables.ts';

/** RFC 1035 3.3: a TXT record is made of strings of at most this many. */
const MAX_TXT_STRING_BYTES = 255;

type DomainKeys = Pick<DomainRow, 'name' | 'ownership_token' | 'dkim_selector' | 'dkim_public_key'>;

/**
 * The records to publish. `relays` are the hosts that send for the domain; SPF names them. `reports_to` is
 * the address that receivers report to.
 */
export function recordsToPublish(
  domain: DomainKeys,
  { relays, reports_to }: { relays: readonly string[]; reports_to: string },
): DnsRecord[] {
  const spf = `v=spf1 ${['a', 'mx', ...sendersOf(relays)].join(' ')} ~all`;
  return [
    { purpose: 'ownership', type: 'TXT', name: `_satchel.${domain.name}`, value: ownershipValue(domain) },
    { purpose: 'spf', type: 'TXT', name: domain.name, value: spf },
    dkimRecord(domain.name, domain.dkim_selector, domain.dkim_public_key),
    {
      purpose: 'dmarc',
      type: 'TXT',
      name: `_dmarc.${domain.name}`,
      value: `v=DMARC1; p=quarantine; rua=mailto:${reports_to}`,
    },
  ];
}

export function dkimRecord(domain: string, selector: string, public_key: string): DnsRecord {
  const value = `v=DKIM1; k=rsa; p=${public_key}`;
  return { purpose: 'dkim', type: 'TXT', name: `${selector}._domainkey.${domain}`, value };
}

/**
 * For the mail that the domain receives, bounces included: TLS, and reports where it failed. Advised, not
 * required.
 */
export function advisedRecords(
  domain: Pick<DomainRow, 'created_at' | 'name'>,
  reports_to: string,
): DnsRecord[] {
  const id = toIso(domain.created_at).replace(/\D/g, '').slice(0, 14);
  const report = `v=TLSRPTv1; rua=mailto:${reports_to}`;
  return [
    { purpose: 'mta_sts', type: 'TXT', name: `_mta-sts.${domain.name}`, value: `v=STSv1; id=${id}` },
    { purpose: 'tls_rpt', type: 'TXT', name: `_smtp._tls.${domain.name}`, value: report },
  ];
}

/**
 * RFC 1035 3.3: a value in quoted strings of at most 255 bytes, as a zone file and most providers' forms take
 * it.
 */
export function quoteTxt(value: string): string {
  const parts = value.match(new RegExp(`.{1,${MAX_TXT_STRING_BYTES}}`, 'gs')) ?? [''];
  return parts.map((part) => `"${part}"`).join(' ');
}

function ownershipValue(domain: DomainKeys): string {
  return `satchel-verification=${domain.ownership_token}`;
}

/** Looks every record up and judges it. Never throws: what nobody answers is `unknown`. */
export async function checkRecords(
  resolver: Resolver,
  domain: DomainKeys,
  options: { relays: readonly string[]; reports_to: string; is_signed: boolean },
): Promise<RecordCheck[]> {
  return Promise.all(
    recordsToPublish(domain, options).map(async (record) => ({
      ...record,
      ...(await checkRecord(resolver, record, { domain, ...options })),
    })),
  );
}

async function checkRecord(
  resolver: Resolver,
  record: DnsRecord,
  { domain, relays, is_signed }: { domain: DomainKeys; relays: readonly string[]; is_signed: boolean },
): Promise<RecordVerdict> {
  if (record.purpose === 'dmarc') return checkDmarc(resolver, domain.name);
  if (record.purpose === 'spf') return withUnnamed(await checkSpf(resolver, domain.name), relays);
  if (record.purpose === 'dkim') return checkDkim(resolver, { domain, is_signed });
  return judgeOwnership(await resolver.lookupTxt(record.name), record.value);
}

/**
 * Only a relay's owner knows which hosts send for it, so a sound record that does not name the relay is
 * reported but passes.
 */
function withUnnamed(verdict: RecordVerdict, relays: readonly string[]): RecordVerdict {
  if (verdict.status !== 'found') return verdict;
  const terms = (verdict.found ?? '').toLowerCase().split(/ +/);
  const unnamed = sendersOf(relays).filter((term) => !terms.includes(term) && !terms.includes(`+${term}`));
  if (unnamed.length === 0) return verdict;
  const problem = `Its relays ask for more: ${unnamed.join(' ')}. Add that, unless the record lets them send in another way.`;
  return { ...verdict, problem };
}

/** The key that mail is signed with now; not needed where the relays sign (`dkim=off`). */
export async function checkDkim(
  resolver: Resolver,
  { domain, is_signed }: { domain: DomainKeys; is_signed: boolean },
): Promise<RecordVerdict> {
  const { name } = dkimRecord(domain.name, domain.dkim_selector, domain.dkim_public_key);
  const verdict = judgeDkim(await resolver.lookupTxt(name), domain.dkim_public_key);
  if (is_signed || verdict.status === 'found') return verdict;
  return {
    ...verdict,
    status: 'unneeded',
    problem: 'Its relays sign instead (dkim=off), so no record of ours is needed.',
  };
}

/** Where bounces go, and whether they can arrive. */
export async function checkBounces(resolver: Resolver, domains: readonly string[]): Promise<BounceCheck[]> {
  return Promise.all(
    [...new Set(domains)].map(async (domain) => ({ domain, takes_mail: await resolver.takesMail(domain) })),
  );
}

/** By how the names of the name servers end, or by a part of them. */
const PROVIDERS: readonly (readonly [servers: RegExp, name: string])[] = [
  [/\.ns\.cloudflare\.com$/, 'Cloudflare'],
  [/\.awsdns-\d+\./, 'Amazon Route 53'],
  [/\.googledomains\.com$|^ns-cloud-.*\.google/, 'Google Cloud DNS'],
  [/\.azure-dns\./, 'Azure DNS'],
  [/\.digitalocean\.com$/, 'DigitalOcean'],
  [/\.hetzner\.(?:com|de)$|\.first-ns\.de$|\.second-ns\./, 'Hetzner'],
  [/\.domaincontrol\.com$/, 'GoDaddy'],
  [/\.registrar-servers\.com$/, 'Namecheap'],
  [/\.ui-dns\./, 'IONOS'],
  [/\.ovh\.net$|\.anycast\.me$/, 'OVHcloud'],
  [/\.gandi\.net$/, 'Gandi'],
  [/\.inwx\./, 'INWX'],
  [/\.vercel-dns\.com$/, 'Vercel'],
  [/\.nsone\.net$/, 'NS1 (Netlify among others)'],
  [/\.porkbun\.com$/, 'Porkbun'],
  [/\.dnsimple(?:-edge)?\./, 'DNSimple'],
  [/\.linode\.com$/, 'Linode'],
  [/\.strato\.de$|\.rzone\.de$/, 'Strato'],
];

/** Asked of the domain and what it is below, but the ending alone. Null where nobody known runs it, and without an answer. */
export async function dnsProviderOf(
  resolver: Pick<Resolver, 'lookupNs'>,
  domain: string,
): Promise<string | null> {
  for (let name = domain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const found = await resolver.lookupNs(name);
    if (found.status === 'unknown') return null;
    if (found.status === 'absent' || found.records.length === 0) continue;
    const known = PROVIDERS.find(([servers]) => found.records.some((server) => servers.test(server)));
    return known?.[1] ?? null;
  }
  return null;
}
