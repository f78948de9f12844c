/** Reads a receiver's report of who sends in a domain's name (DMARC, RFC 7489, appendix C), as receivers write them. */
import { isIP } from 'node:net';
import { SaxesParser } from 'saxes';
import { type AggregateReport, MAX_COUNT, NUMBERS, nameOf, type ReportedSource } from './domain-report.ts';
import { Refused, type ReportBudget, type UnreadReason } from './report-files.ts';

/** Decision: sources that are told apart for a report and domain, by most mails; others count in its sums. */
export const MAX_SOURCES_PER_REPORT = 1_000;
/** RFC 7489's form is six deep; a name or an address is far shorter. */
const MAX_XML_DEPTH = 10;
const MAX_XML_TEXT_CHARS = 1_000;
/** Signatures that are looked at: of one row, and of one source. */
const MAX_SIGNERS = 20;

interface Row {
  texts: Map<string, string>;
  signers: Map<string, string>[];
}

/** Elements that receivers write in place of others. */
const OTHER_NAMES: Readonly<Record<string, string>> = { identities: 'identifiers' };

/**
 * The report in a text; null where it is none. `sender` stands in for a name that it leaves empty. Throws Refused for a DOCTYPE, and past
 * a bound.
 */
export function readDmarc(
  text: string,
  { sender, budget }: { sender: string; budget: ReportBudget },
): AggregateReport | null {
  const [head, rows] = [new Map<string, string>(), new Sources()];
  parseFeedback(text, head, (row) => {
    budget.takeRows(1);
    rows.add(row);
  });
  const organization = nameOf(head.get('report_metadata/org_name')) || sender;
  const report_id = nameOf(head.get('report_metadata/report_id'));
  const ends_at = Number(head.get('report_metadata/date_range/end')) * 1_000;
  if (organization === '' || report_id === '' || !Number.isSafeInteger(ends_at)) return null;
  const p = head.get('policy_published/p') ?? '';
  const is_policy = ['none', 'quarantine', 'reject'].includes(p);
  const policy = is_policy ? { domain: (head.get('policy_published/domain') ?? '').toLowerCase(), p } : null;
  return { kind: 'dmarc', organization, report_id, ends_at, sources: rows.mostFirst(), policy, tls: [] };
}

/** What receivers write that is no XML: blanks before it, its encoding, a tag of its schema that is never closed, an ampersand alone. */
function mend(text: string): string {
  return text
    .trimStart()
    .replace(/^<\?xml[^<>]*>/, '')
    .replace(/<\/?xsd?:schema\b[^<>]*>/g, '')
    .replace(/&(?![a-z#][\w.-]*;)/gi, '&amp;');
}

function parseFeedback(text: string, head: Map<string, string>, onRow: (row: Row) => void): void {
  const parser = new SaxesParser();
  const path: string[] = [];
  let [row, said]: [Row | null, string] = [null, ''];
  const refuse = (reason: UnreadReason): never => {
    throw new Refused(reason);
  };
  parser.on('error', () => refuse('broken'));
  parser.on('doctype', () => refuse('doctype'));
  parser.on('opentag', ({ name }) => {
    said = '';
    const local = name.slice(name.indexOf(':') + 1);
    if (path.push(OTHER_NAMES[local] ?? local) > MAX_XML_DEPTH) refuse('too_large');
    if (path[0] !== 'feedback') refuse('broken');
    const at = path.slice(1).join('/');
    if (at === 'record') row = { texts: new Map(), signers: [] };
    if (at === 'record/auth_results/dkim' && row && row.signers.length < MAX_SIGNERS)
      row.signers.push(new Map());
  });
  const take = (more: string): void => {
    said += more;
    if (said.length > MAX_XML_TEXT_CHARS) refuse('too_large');
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', () => {
    const at = path.slice(1).join('/');
    const name = path.pop() ?? '';
    const value = said.trim();
    said = '';
    if (at === 'record' && row) onRow(row);
    if (at === 'record') row = null;
    const of_signer = at === `record/auth_results/dkim/${name}` ? row?.signers.at(-1) : undefined;
    const texts = of_signer ?? row?.texts ?? head;
    if (!texts.has(at) && value !== '') texts.set(of_signer ? name : at, value);
  });
  parser.write(mend(text)).close();
}

/** Rows, by whose name they were sent in and from where. */
class Sources {
  readonly #sources = new Map<string, ReportedSource>();

  add({ texts, signers }: Row): void {
    const at = (path: string): string => (texts.get(`record/${path}`) ?? '').toLowerCase();
    const [ip, header_from] = [at('row/source_ip'), at('identifiers/header_from').replace(/\.$/, '')];
    const count = Number(at('row/count'));
    if (
      isIP(ip) === 0 ||
      header_from === '' ||
      !Number.isSafeInteger(count) ||
      count < 1 ||
      count > MAX_COUNT
    )
      return;
    const key = `${header_from} ${ip}`;
    const source = this.#sources.get(key) ?? { ...NONE, header_from, ip, signers: [], sender: '' };
    this.#sources.set(key, source);
    const [dkim, spf] = ['dkim', 'spf'].map((how) => at(`row/policy_evaluated/${how}`) === 'pass');
    source.count += count;
    if (dkim) source.dkim_aligned += count;
    if (spf) source.spf_aligned += count;
    if (dkim || spf) source.aligned += count;
    const disposition = at('row/policy_evaluated/disposition');
    source[disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none'] += count;
    const passed = signers.filter((signer) => signer.get('result')?.toLowerCase() === 'pass');
    const named = new Set(
      passed.map((of) => `${of.get('domain')?.toLowerCase() ?? ''} ${of.get('selector') ?? ''}`),
    );
    for (const name of named) addSigner(source, name, count);
    const spf_domain = at('auth_results/spf/result') === 'pass' ? at('auth_results/spf/domain') : '';
    source.sender ||= foreignOf([...passed.map((of) => of.get('domain') ?? ''), spf_domain], header_from);
  }

  /** Of each domain those with the most mails; the others as one. */
  mostFirst(): ReportedSource[] {
    const told = new Map<string, number>();
    const others = new Map<string, ReportedSource>();
    const kept = [...this.#sources.values()]
      .sort((a, b) => b.count - a.count)
      .filter((source) => {
        const n = (told.get(source.header_from) ?? 0) + 1;
        told.set(source.header_from, n);
        if (n <= MAX_SOURCES_PER_REPORT) return true;
        const { header_from } = source;
        const sum = others.get(header_from) ?? { ...NONE, header_from, ip: '', signers: [], sender: '' };
        for (const number of NUMBERS) sum[number] += source[number];
        others.set(header_from, sum);
        return false;
      });
    return [...kept, ...others.values()];
  }
}

/** The first domain that is neither `own`, nor within it, nor around it; empty without one. */
function foreignOf(domains: readonly string[], own: string): string {
  const isWithin = (inner: string, outer: string): boolean => `.${inner}`.endsWith(`.${outer}`);
  const names = domains.map((domain) => domain.toLowerCase().replace(/\.$/, ''));
  return names.find((name) => DOMAIN.test(name) && !isWithin(name, own) && !isWithin(own, name)) ?? '';
}
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/;

const NONE = { count: 0, dkim_aligned: 0, spf_aligned: 0, aligned: 0, none: 0, quarantine: 0, reject: 0 };

function addSigner({ signers }: ReportedSource, name: string, count: number): void {
  const [domain = '', selector = ''] = name.split(' ');
  const known = signers.find((of) => of.domain === domain && of.selector === selector);
  if (known) known.count += count;
  else if (signers.length < MAX_SIGNERS) signers.push({ domain, selector, count });
}
