/** Small pages for people who follow a link in a mail: HTML that runs nothing and loads nothing. */

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

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem;color:#222;background:#fff}' +
  'button{font:inherit;padding:.5rem 1rem}@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}}';

/** A page with this title, which is its heading too. Its only form posts to where the page came from. */
export function pageResponse(status: number, title: string, content: Html): Response {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<h1>${title}</h1>
${content}
</body>
</html>
`;
  const style_hash = new Bun.CryptoHasher('sha256').update(STYLE).digest('base64');
  return new Response(page.text, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${style_hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    },
  });
}
