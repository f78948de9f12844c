/**
 * The branded layout of marketing mail, HTML and text: readable on phones, in the dark, without pictures.
 * Pure functions.
 */
import { type Language, WORDS } from '../../platform/words/words.ts';
import { rewriteHtml } from './links.ts';

/** What a layout shows besides the template's own content; every value is text. */
export interface LayoutValues {
  brand_name: string;
  brand_color: string | null;
  brand_logo_url: string | null;
  brand_website_url: string | null;
  language: Language;
  /** The two that differ from mail to mail are markers. Null where the footer has none. */
  postal_address: string | null;
  unsubscribe_url: string | null;
  /** Where it can be read in a browser, and what marks both ends of the line that says so. Null without that line. */
  view: { url: string; edge: string } | null;
}

const DEFAULT_COLOR = '#1f4e79';
const COLOR = /^#[0-9a-f]{6}$/i;

// Colours are given twice: in dark mode mail programs invert them badly unless they are told what to use.
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:0;width:100%}
.s-text table{max-width:100%!important}
.s-text ul,.s-text ol{padding:0 24px}
@media (max-width:620px){.s-pad{padding:20px!important}}
@media (prefers-color-scheme:dark){.s-page{background:#161617!important}.s-card{background:#232325!important}.s-text,.s-text p,.s-text h1,.s-text h2,.s-text h3,.s-text td,.s-text li{color:#ececec!important}.s-text a{color:#9ecbff!important}.s-foot,.s-foot a{color:#b4b4b8!important}}
[data-ogsc] .s-text{color:#ececec!important}[data-ogsc] .s-foot{color:#b4b4b8!important}`;

/** A table that is never wider than its page. It needs no <style>, which some mail programs ignore. */
const TABLE = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"';
const CARD = 'width:100%;max-width:600px;margin:0 auto;table-layout:fixed';
/** Lets words, addresses and lines of code break that are longer than a line. */
const BREAKS = 'word-break:break-word;overflow-wrap:anywhere';
/**
 * Heads of columns keep their width, up to a limit: a long cell would leave its neighbours a letter a line.
 */
const WHOLE_WORDS = 'word-break:normal;overflow-wrap:break-word;max-width:6em';
/** Outlook for Windows knows no max-width: a table of its own holds ours. */
const FOR_OUTLOOK = {
  open: '<!--[if mso]><table role="presentation" align="center" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->',
  close: '<!--[if mso]></td></tr></table><![endif]-->',
};

type Brand = Pick<LayoutValues, 'brand_name' | 'brand_color' | 'brand_logo_url' | 'brand_website_url'>;

/** How a project's mail is signed and looks. */
export function brandOf(
  owner: { name: string },
  settings: Omit<Brand, 'brand_name'> & { brand_name: string | null; from_name: string | null },
): Brand {
  const { brand_color, brand_logo_url, brand_website_url } = settings;
  const brand_name = settings.brand_name ?? settings.from_name ?? owner.name;
  return { brand_name, brand_color, brand_logo_url, brand_website_url };
}

export interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

/** Both bodies of a template within the layout. */
export function layOutBodies({ body_html, body_text }: Bodies, values: LayoutValues): Bodies {
  return {
    body_html: body_html === null ? null : layOutHtml(body_html, values),
    body_text: body_text === null ? null : layOutText(body_text, values),
  };
}

/**
 * A template's HTML within the layout. Of a whole document, its styles and the content of its body are taken.
 */
export function layOutHtml(content: string, values: LayoutValues): string {
  const { styles, body } = partsOf(content);
  const name = Bun.escapeHTML(values.brand_name);
  const color =
    values.brand_color !== null && COLOR.test(values.brand_color) ? values.brand_color : DEFAULT_COLOR;
  return `<!doctype html>
<html lang="${values.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${name}</title>
<style>${STYLE}</style>
${styles}</head>
<body class="s-page" style="margin:0;padding:0;background:#f4f4f5">
<table ${TABLE} lang="${values.language}" class="s-page" style="table-layout:fixed;background:#f4f4f5"><tr><td style="padding:24px 8px">
${FOR_OUTLOOK.open}
${viewLine(values)}<table ${TABLE} align="center" class="s-card" style="${CARD};background:#ffffff;border-top:4px solid ${color}">
<tr><td class="s-pad s-text" dir="auto" style="padding:24px 32px 0;font:bold 18px/1.4 Helvetica,Arial,sans-serif;color:#1b1b1b;${BREAKS}">${brandHead(name, values)}</td></tr>
<tr><td class="s-pad s-text" dir="auto" style="padding:16px 32px 32px;font:16px/1.6 Helvetica,Arial,sans-serif;color:#1b1b1b;${BREAKS}">
${fitting(body)}
</td></tr>
</table>
<table ${TABLE} align="center" style="${CARD}"><tr><td class="s-pad s-foot" dir="auto" style="padding:16px 32px;font:13px/1.6 Helvetica,Arial,sans-serif;color:#5f5f66;${BREAKS}" align="center">
${footOf(name, values)}
</td></tr></table>
${FOR_OUTLOOK.close}
</td></tr></table>
</body>
</html>
`;
}

function viewLine({ view, language }: LayoutValues): string {
  if (view === null) return '';
  const link = `<a href="${Bun.escapeHTML(view.url)}" style="color:#5f5f66">${WORDS[language].mail.view}</a>`;
  return `${view.edge}<table ${TABLE} align="center" style="${CARD}"><tr><td class="s-pad s-foot" style="padding:0 32px 12px;font:13px/1.6 Helvetica,Arial,sans-serif;color:#5f5f66" align="center">${link}</td></tr></table>
${view.edge}`;
}

function footOf(name: string, { postal_address, unsubscribe_url, language }: LayoutValues): string {
  const lines = [name];
  if (postal_address !== null) lines.push(Bun.escapeHTML(postal_address).replace(/\r\n|\r|\n/g, '<br>'));
  if (unsubscribe_url !== null)
    lines.push(
      `<a href="${Bun.escapeHTML(unsubscribe_url)}" style="color:#5f5f66">${WORDS[language].mail.unsubscribe}</a>`,
    );
  return lines.join('<br>');
}

const BLOCKS = 'p,h1,h2,h3,h4,h5,h6,dl,blockquote,pre,div,table';

/**
 * Content whose blocks each run in the direction of their script, and whose pictures and code stay within its
 * width.
 */
function fitting(html: string): string {
  // What stands in a list goes the list's way, or its bullets would be on the other side.
  let lists = 0;
  const turn = (element: HTMLRewriterTypes.Element): void => {
    if (lists === 0 && !element.hasAttribute('dir')) element.setAttribute('dir', 'auto');
  };
  const style = (element: HTMLRewriterTypes.Element, added: string): void => {
    element.setAttribute('style', `${added};${element.getAttribute('style') ?? ''}`);
  };
  const rewriter = new HTMLRewriter()
    .on('ul,ol', {
      element(list) {
        turn(list);
        lists += 1;
        list.onEndTag(() => {
          lists -= 1;
        });
      },
    })
    .on(BLOCKS, { element: turn })
    .on('pre', { element: (code) => style(code, 'white-space:pre-wrap') })
    .on('th', { element: (head) => style(head, WHOLE_WORDS) })
    .on('img', { element: (picture) => style(picture, 'max-width:100%;height:auto;border:0') });
  return rewriteHtml(html, rewriter);
}

/** Behind it nothing of the mail's own beginning shows in an inbox's line. */
const NOTHING_TO_SEE = '&#847;&zwnj;&nbsp;'.repeat(60);

/** HTML that begins with what inboxes show behind the subject; its reader doesn't see it. */
export function withPreheader(html: string, preheader: string): string {
  const hidden = `<div dir="auto" aria-hidden="true" style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;mso-hide:all">${Bun.escapeHTML(preheader)}${NOTHING_TO_SEE}</div>`;
  let is_in = false;
  const rewriter = new HTMLRewriter().on('body', {
    element(body) {
      if (!is_in) body.prepend(hidden, { html: true });
      is_in = true;
    },
  });
  const begun = rewriteHtml(html, rewriter);
  return is_in ? begun : hidden + html;
}

/** A template's text with that line, and the footer that the law asks for. */
export function layOutText(content: string, values: LayoutValues): string {
  const { view } = values;
  const line = view && `${WORDS[values.language].mail.view}: ${view.url}`;
  // An edge that touched an address would be part of it.
  const begin = view === null ? '' : `${view.edge}${line}\n${view.edge}\n`;
  const lines = [
    begin + content.trimEnd(),
    '',
    '----',
    values.brand_name,
    ...(values.postal_address === null ? [] : [values.postal_address.trim()]),
    ...(values.brand_website_url === null ? [] : [values.brand_website_url]),
    ...(values.unsubscribe_url === null
      ? []
      : ['', `${WORDS[values.language].mail.unsubscribe}: ${values.unsubscribe_url}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function brandHead(name: string, { brand_logo_url: logo, brand_website_url: website }: LayoutValues): string {
  const shown =
    logo !== null && isWebAddress(logo, ['https:'])
      ? `<img src="${Bun.escapeHTML(logo)}" alt="${name}" style="max-width:200px;max-height:64px;border:0">`
      : name;
  if (website === null || !isWebAddress(website, ['https:', 'http:'])) return shown;
  return `<a href="${Bun.escapeHTML(website)}" style="color:inherit;text-decoration:none">${shown}</a>`;
}

function isWebAddress(url: string, protocols: readonly string[]): boolean {
  return URL.canParse(url) && protocols.includes(new URL(url).protocol);
}

function partsOf(content: string): { styles: string; body: string } {
  const opens = tagAt(content, /<body\b/gi, 0);
  if (!opens) return { styles: '', body: content };
  const end = content.toLowerCase().lastIndexOf('</body');
  return {
    styles: stylesOf(content.slice(0, opens.from)),
    body: content.slice(opens.to, end > opens.to ? end : undefined),
  };
}

function stylesOf(head: string): string {
  const styles: string[] = [];
  for (let at = 0; ; ) {
    const opens = tagAt(head, /<style\b/gi, at);
    const closes = opens && tagAt(head, /<\/style(?=\s*>)/gi, opens.to);
    if (!closes) return styles.join('');
    styles.push(`${head.slice(opens.from, closes.to)}\n`);
    at = closes.to;
  }
}

/** The first tag that begins so, from a place on. A pattern with its end would look for that from each beginning. */
function tagAt(html: string, begins: RegExp, at: number): { from: number; to: number } | null {
  begins.lastIndex = at;
  const from = begins.exec(html)?.index ?? -1;
  const end = from < 0 ? -1 : html.indexOf('>', from);
  return end < 0 ? null : { from, to: end + 1 };
}
