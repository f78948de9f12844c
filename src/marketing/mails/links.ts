/** Finding the links of a mail that people follow, and putting others in their place. Pure functions. */

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

const TEXT_LINK = /\bhttps?:\/\/[^\s<>"]+/gi;

/** The web addresses of a text replaced. Punctuation behind one belongs to its sentence. */
export function replaceTextLinks(text: string, replace: Replace): string {
  return text.replace(TEXT_LINK, (found) => {
    const address = withoutPunctuation(found);
    const replaced = replace(address);
    return replaced === null ? found : replaced + found.slice(address.length);
  });
}

/** A closing bracket belongs to the address where one was opened in it. */
function withoutPunctuation(address: string): string {
  let unopened = address.split(')').length - address.split('(').length;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address.charAt(end - 1);
    if (!/[.,;:!?'*_)\]}]/.test(last) || (last === ')' && unopened <= 0)) break;
    if (last === ')') unopened -= 1;
  }
  return address.slice(0, end);
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
