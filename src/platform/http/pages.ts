/** Small pages for people who follow a link: HTML that runs nothing of ours and loads nothing. */

import { ANYBODY, type Reader } from '../words/words.ts';

/** Markup whose inserted values are escaped, unless they are markup themselves. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Tag of a template: html`<p>${name}</p>`. */
export function html(strings: TemplateStringsArray, ...values: (string | number | Html)[]): Html {
  const parts = values.map((value) => (value instanceof Html ? value.text : Bun.escapeHTML(String(value))));
  return new Html(String.raw({ raw: strings }, ...parts));
}

const STYLE = `:root{color-scheme:light dark}
body{margin:0;padding:1.5rem;font:1.0625rem/1.6 system-ui,sans-serif;color:#1b1b1b;background:#f4f4f5;overflow-wrap:anywhere}
main{max-width:32rem;margin:8vh auto 0;padding:2rem;background:#fff;border-radius:.75rem}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25}
h2{margin:2rem 0 1rem;font-size:1.125rem;line-height:1.25}
p{margin:0 0 1rem}
label{display:block;margin:0 0 1rem}
input:not([type=checkbox]){display:block;box-sizing:border-box;width:100%;margin:.25rem 0 0;padding:.625rem .75rem;font:inherit;color:inherit;background:transparent;border:1px solid currentColor;border-radius:.5rem}
.trap{position:absolute;left:-9999px}
form+p{margin:1rem 0 0}
button{padding:.75rem 1.5rem;font:inherit;font-weight:600;border:0;border-radius:.5rem;cursor:pointer}
button:focus-visible,a:focus-visible,input:focus-visible{outline:3px solid currentColor;outline-offset:3px}
pre{margin:0 0 1rem;white-space:pre-wrap}
footer{max-width:32rem;margin:1rem auto;text-align:center;font-size:.9375rem}
a{color:inherit}
@media (prefers-color-scheme:dark){body{color:#ececec;background:#161617}main{background:#232325}}
`;

/** How the pages of one sender look; nothing in it is markup from outside. */
export interface PageLook {
  /** CSS behind that of every page. */
  style: string;
  /** The one origin that images may come from. */
  image_origin: string | null;
  /** The one origin of scripts and of what they frame: a captcha's. Absent for none. */
  script_origin?: string;
  /** Where its form may lead in the end, besides where it posts to. Absent for nowhere. */
  form_origin?: string;
  header: Html;
  footer: Html;
}

const PLAIN: PageLook = { style: '', image_origin: null, header: new Html(''), footer: new Html('') };

/** Lines of text as paragraphs. */
export function paragraphs(...texts: readonly string[]): Html {
  return new Html(texts.map((text) => html`<p>${text}</p>`.text).join('\n'));
}

interface Shown {
  look?: PageLook;
  reader?: Reader;
  /** Beside what every head has. */
  head?: Html;
}

/** The HTML of a page with this title, which is its heading too, in the language of its reader. */
export function pageText(
  title: string,
  content: Html,
  { look = PLAIN, reader = ANYBODY, head = new Html('') }: Shown = {},
): string {
  return html`<!doctype html>
<html lang="${reader.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}<style>${new Html(STYLE + look.style)}</style>
</head>
<body>
<main>
${look.header}
<h1>${title}</h1>
${content}
</main>
${look.footer}
</body>
</html>
`.text;
}

/** As `pageText`, under its policy. Its only form posts to where the page came from. */
export function pageResponse(status: number, title: string, content: Html, shown: Shown = {}): Response {
  const { look = PLAIN, reader = ANYBODY } = shown;
  return new Response(pageText(title, content, shown), {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyOf(STYLE + look.style, look),
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
      ...(reader.is_by_request ? { Vary: 'Accept-Language' } : {}),
    },
  });
}

/** Leads whoever posted a form elsewhere. `url` is one that `refusalOfTarget` lets pass. */
export function seeOther(url: string): Response {
  const headers = { Location: new URL(url).href, 'Referrer-Policy': 'no-referrer' };
  return new Response(null, { status: 303, headers });
}

function policyOf(style: string, { image_origin, script_origin, form_origin }: PageLook): string {
  const style_hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  const images = image_origin === null ? '' : ` img-src ${image_origin};`;
  const scripts =
    script_origin === undefined ? '' : ` script-src ${script_origin}; frame-src ${script_origin};`;
  return `default-src 'none'; style-src 'sha256-${style_hash}';${images}${scripts} form-action 'self'${form_origin === undefined ? '' : ` ${form_origin}`}; base-uri 'none'; frame-ancestors 'none'`;
}
