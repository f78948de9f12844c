/**
 * Finding the links of a mail that people follow, and putting others in their place, with parameters for whoever counts visits.
 * Rewriting HTML takes time that grows with its length alone. Pure functions.
 */
import { decodeHTMLAttribute } from 'entities';
import { invalid } from '../../errors.ts';
import { splitAtLinks } from '../../mail/templates/service.ts';
import { isPlainObject } from '../../platform/http/validation.ts';

/** Takes the address of a link and returns what stands in its place; null leaves it. */
export type Replace = (address: string) => string | null;

/** The links of an HTML text replaced; all else stays as it is to the byte. */
export function replaceHtmlLinks(html: string, replace: Replace): string {
  const rewriter = new HTMLRewriter().on('a[href], area[href]', {
    element(element) {
      const replaced = replace(decodeHTMLAttribute(element.getAttribute('href') ?? '').trim());
      if (replaced !== null) element.setAttribute('href', Bun.escapeHTML(replaced));
    },
  });
  return rewriteHtml(html, rewriter);
}

/** The web addresses of a text replaced. */
export function replaceTextLinks(text: string, replace: Replace): string {
  return splitAtLinks(text)
    .map((part, index) => (index % 2 === 0 ? part : (replace(part) ?? part)))
    .join('');
}

/** The addresses of the links of an HTML text, as often as they stand there; '' for an empty one. */
export function addressesOfHtml(html: string): string[] {
  return collect((keep) => replaceHtmlLinks(html, keep));
}

/** The web addresses of a text. */
export function addressesOfText(text: string): string[] {
  return collect((keep) => replaceTextLinks(text, keep));
}

function collect(look: (keep: Replace) => void): string[] {
  const found: string[] = [];
  look((address) => {
    found.push(address);
    return null;
  });
  return found;
}

/** Elements that hold nothing, and so are never closed. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const TAG = /<(\/?)([a-z][^\s/>]*)/gi;
/** How often a closing tag may be looked for among open ones that it does not close: some 20 ms. */
const MAX_VAIN_LOOKS = 10_000_000;
const TANGLED = 'has too many tags that close what was never opened, among others that are never closed';

/**
 * What a rewriter makes of HTML. For each closing tag it looks through the open elements until it finds its
 * own: nobody can end it meanwhile, so what would take long is refused. Throws AppError `invalid`.
 */
export function rewriteHtml(html: string, rewriter: HTMLRewriter): string {
  if (isTangled(html)) throw invalid({ body_html: [TANGLED] });
  return rewriter.transform(html);
}

function isTangled(html: string): boolean {
  const open: string[] = [];
  const open_by_name = new Map<string, number>();
  const count = (name: string, by: number): void => {
    open_by_name.set(name, (open_by_name.get(name) ?? 0) + by);
  };
  let vain = 0;
  for (const [, closes, tag = ''] of html.matchAll(TAG)) {
    const name = tag.toLowerCase();
    if (VOID.has(name)) continue;
    if (!closes) {
      open.push(name);
      count(name, 1);
    } else if (!open_by_name.get(name)) {
      vain += open.length;
      if (vain > MAX_VAIN_LOOKS) return true;
    } else
      for (let last = open.pop(); last !== undefined; last = open.pop()) {
        count(last, -1);
        if (last === name) break;
      }
  }
  return false;
}

/** An address with those parameters that it does not have, before its fragment. All else in it stays as it is. */
export function withUtm(address: string, added: Readonly<Record<string, string>>): string {
  const at = address.indexOf('#');
  const [body, fragment] = at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at)];
  const query_at = body.indexOf('?');
  const query = query_at < 0 ? '' : body.slice(query_at + 1);
  // With its own question mark: otherwise one that begins it would be taken for that.
  const present = new URLSearchParams(`?${query}`);
  const missing = Object.entries(added)
    .map(([name, text]) => [`utm_${name}`, text] as const)
    .filter(([name]) => !present.has(name))
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  if (missing.length === 0) return address;
  const joint = query_at < 0 ? '?' : query === '' || query.endsWith('&') ? '' : '&';
  return `${body}${joint}${missing.join('&')}${fragment}`;
}

/** As a link's row has them. */
export function readUtm(stored: string): Record<string, string> {
  const parsed: unknown = JSON.parse(stored);
  return Object.fromEntries(
    Object.entries(isPlainObject(parsed) ? parsed : {}).map(([name, text]) => [name, String(text)]),
  );
}
