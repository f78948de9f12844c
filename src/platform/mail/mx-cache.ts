/** Whether domains take mail, remembered for a while: 100,000 contacts have few domains. */
import type { Clock } from '../host/clock.ts';
import type { Lookup, MxRecord } from './dns.ts';

/** How long that is remembered: no longer than operators wait for a change of their DNS. */
export const MX_CACHE_MS = 10 * 60_000;
/** After no answer it is asked again after this: at once for somebody who retries, but not for each row. */
export const MX_UNKNOWN_CACHE_MS = 2_000;
/** Some 200 bytes each; a large list of contacts has a few thousand domains. */
export const MAX_MX_CACHE_DOMAINS = 20_000;
/** Domains asked about at once: each is one UDP socket, and public resolvers refuse floods. */
export const MX_LOOKUPS_AT_ONCE = 32;

/** `unknown`: nobody answered; it must never count as `no`. */
export type TakesMail = 'yes' | 'no' | 'unknown';

export interface MxLookups {
  lookupMx(domain: string): Promise<Lookup<MxRecord>>;
  lookupAddresses(domain: string): Promise<Lookup<string>>;
}

export class MxCache {
  /** In the order in which they were learnt. */
  readonly #known = new Map<string, { verdict: TakesMail; until_ms: number }>();
  readonly #under_way = new Map<string, Promise<TakesMail>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly lookups: MxLookups,
    private readonly clock: Clock,
  ) {}

  /** Never throws. Callers who ask about a domain at once share a look-up; look-ups are bounded. */
  takesMail(domain: string): Promise<TakesMail> {
    const key = domain.toLowerCase();
    const known = this.#known.get(key);
    const left_ms = (known?.until_ms ?? 0) - this.clock.now();
    // It expires later than any answer may: the clock was set back.
    if (known && left_ms > 0 && left_ms <= MX_CACHE_MS) return Promise.resolve(known.verdict);
    const under_way = this.#under_way.get(key);
    if (under_way) return under_way;
    const asking = this.#ask(key).finally(() => this.#under_way.delete(key));
    this.#under_way.set(key, asking);
    return asking;
  }

  async #ask(domain: string): Promise<TakesMail> {
    if (this.#running < MX_LOOKUPS_AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const verdict = await this.#judge(domain);
      this.#remember(domain, verdict);
      return verdict;
    } finally {
      // The place goes to the next that waits, if any does.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  /** Without an MX the domain's addresses take its mail (RFC 5321 5.1); `.` means nobody (RFC 7505). */
  async #judge(domain: string): Promise<TakesMail> {
    const mx = await this.lookups.lookupMx(domain);
    if (mx.status === 'unknown') return 'unknown';
    if (mx.status === 'absent') return 'no';
    if (mx.records.length > 0) return mx.records.some((record) => record.exchange !== '.') ? 'yes' : 'no';
    const addresses = await this.lookups.lookupAddresses(domain);
    if (addresses.status === 'unknown') return 'unknown';
    return addresses.status === 'found' && addresses.records.length > 0 ? 'yes' : 'no';
  }

  #remember(domain: string, verdict: TakesMail): void {
    const for_ms = verdict === 'unknown' ? MX_UNKNOWN_CACHE_MS : MX_CACHE_MS;
    this.#known.delete(domain);
    this.#known.set(domain, { verdict, until_ms: this.clock.now() + for_ms });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_MX_CACHE_DOMAINS && oldest !== undefined) this.#known.delete(oldest);
  }
}
