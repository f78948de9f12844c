/** Finding the links of a mail that people follow, and putting others in their place. Pure functions. */
import { decodeHTMLAttribute } from 'entities';
import { splitAtLinks } from '../../mail/templates/service.ts';
import { rewriteHtml } from './html.ts';

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
