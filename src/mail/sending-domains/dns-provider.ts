/** Who runs the DNS of a domain, as far as the names of its name servers say it: there its records are to be published. */
import type { Resolver } from '../../platform/mail/dns.ts';

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
