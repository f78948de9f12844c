/** The look of a project's public pages: its name, colour and logo, readable whatever the colour. */

import { Html, html, type PageLook } from '../../platform/http/pages.ts';
import type { Settings } from '../settings/service.ts';

/** Whose page it is. */
export interface Brand {
  name: string;
  color: string | null;
  logo_url: string | null;
  website_url: string | null;
}

const DEFAULT_COLOR = '#1f4e79';
const COLOR = /^#[0-9a-f]{6}$/i;

/** What a project is called by, where its settings leave it open. */
export function brandOf(settings: Settings, project_name: string): Brand {
  return {
    name: settings.brand_name ?? settings.from_name ?? project_name,
    color: settings.brand_color,
    logo_url: settings.brand_logo_url,
    website_url: settings.brand_website_url,
  };
}

/** `leads_to` is where its form may lead in the end, null for nowhere else. */
export function lookOf(brand: Brand, leads_to: string | null = null): PageLook {
  const color = brand.color !== null && COLOR.test(brand.color) ? brand.color : DEFAULT_COLOR;
  const image_origin = originOf(brand.logo_url);
  const name =
    image_origin === null
      ? html`${brand.name}`
      : html`<img src="${brand.logo_url ?? ''}" alt="${brand.name}">`;
  return {
    style: `.brand{font-weight:600}.brand img{max-width:12rem;max-height:4rem}button{color:${textOn(color)};background:${color}}`,
    image_origin,
    ...(leads_to !== null && { form_origin: new URL(leads_to).origin }),
    header: html`<p class="brand">${name}</p>`,
    footer:
      brand.website_url === null
        ? new Html('')
        : html`<footer><a href="${brand.website_url}" rel="noreferrer">${brand.name}</a></footer>`,
  };
}

/** The origin of an https address; null for any other. */
function originOf(url: string | null): string | null {
  if (url === null || !URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' ? origin : null;
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
