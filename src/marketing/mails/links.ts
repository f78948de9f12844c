/** Finding the links of a mail that people follow, and putting others in their place. Pure functions. */
import { splitAtLinks } from '../../mail/templates/service.ts';

/** Takes the address of a link and returns what stands in its place; null leaves it. */
export type Replace = (address: string) => string | null;

/** The links of an HTML text replaced; all else stays as it is to the byte. */
export function replaceHtmlLinks(html: string, replace: Replace): string {
  const rewriter = new HTMLRewriter().on('a[href], area[href]', {
    element(element) {
      const replaced = replace(decodeEntities(element.getAttribute('href') ?? '').trim());
      if (replaced !== null) element.setAttribute('href', replaced);
    },
  });
  return rewriter.transform(html);
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

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** As far as addresses have them: numbers, and the five names of XML. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    },
  );
}
