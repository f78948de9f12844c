/** The public pages as HTML: plain, in the project's brand, without scripts, readable on a phone and by a screen reader. */
import type { Settings } from '../marketing/service.ts';

/** Whose page it is. */
export interface Brand {
  name: string;
  color: string | null;
  logo_url: string | null;
  website_url: string | null;
}

export interface PageText {
  title: string;
  /** One sentence a paragraph. */
  paragraphs: readonly string[];
  /** The words of the one button, whose form posts to this very address; none on a page that only tells. */
  button?: string;
}

/** A page and the policy that lets it load its style and its logo, and nothing else. */
export interface Page {
  html: string;
  content_security_policy: string;
}

const DEFAULT_COLOR = '#1f4e79';

/** What a page is called after, where the settings leave it open. */
export function brandOf(settings: Settings, project_name: string): Brand {
  return {
    name: settings.brand_name ?? settings.from_name ?? project_name,
    color: settings.brand_color,
    logo_url: settings.brand_logo_url,
    website_url: settings.brand_website_url,
  };
}

export function renderPage(brand: Brand | null, text: PageText): Page {
  const style = styleOf(brand?.color ?? DEFAULT_COLOR);
  const escaped = Bun.escapeHTML;
  const head = brand ? renderBrand(brand) : '';
  const paragraphs = text.paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n');
  const form =
    text.button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escaped(text.button)}</button></form>`;
  const website =
    brand?.website_url && /^https?:\/\//.test(brand.website_url)
      ? `<footer><a href="${escaped(brand.website_url)}" rel="noreferrer">${escaped(brand.name)}</a></footer>`
      : '';
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(brand ? `${text.title} – ${brand.name}` : text.title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${head}<h1>${escaped(text.title)}</h1>
${paragraphs}
${form}
</main>
${website}
</body>
</html>
`;
  return { html, content_security_policy: policyOf(style, brand?.logo_url ?? null) };
}

function renderBrand(brand: Brand): string {
  const escaped = Bun.escapeHTML;
  return originOf(brand.logo_url) === null
    ? `<p class="brand">${escaped(brand.name)}</p>\n`
    : `<p class="brand"><img src="${escaped(brand.logo_url ?? '')}" alt="${escaped(brand.name)}"></p>\n`;
}

function policyOf(style: string, logo_url: string | null): string {
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  const logo = originOf(logo_url);
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    ...(logo === null ? [] : [`img-src ${logo}`]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The origin of an https address; null for any other. */
function originOf(url: string | null): string | null {
  if (url === null || !URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' ? origin : null;
}

function styleOf(color: string): string {
  return `:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;padding:1.5rem;font:1.0625rem/1.6 system-ui,sans-serif;color:#1b1b1b;background:#f4f4f5}
main{max-width:32rem;margin:8vh auto 0;padding:2rem;background:#fff;border-radius:.75rem;overflow-wrap:anywhere}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem}
.brand{font-weight:600}
.brand img{max-width:12rem;max-height:4rem}
button{padding:.75rem 1.5rem;font:inherit;font-weight:600;color:${textOn(color)};background:${color};border:0;border-radius:.5rem;cursor:pointer}
button:focus-visible,a:focus-visible{outline:3px solid currentColor;outline-offset:3px}
footer{max-width:32rem;margin:1rem auto;text-align:center;font-size:.9375rem}
a{color:inherit}
@media (prefers-color-scheme:dark){body{color:#ececec;background:#161617}main{background:#232325}}`;
}

/** Black or white, whichever is easier to read on a colour (WCAG 2.2, relative luminance). */
function textOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return luminance > 0.179 ? '#000' : '#fff';
}
