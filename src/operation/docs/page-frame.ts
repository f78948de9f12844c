/** The frame of every documentation page: HTML that needs no script, in the look of the console. */
import { Html, html } from '../../platform/http/pages.ts';
import docs_css from './docs.css' with { type: 'text' };
import { readGuides } from './guides.ts';
import type { Reference } from './reference.ts';

/** A heading of the page, and what leads to it. */
export interface Heading {
  id: string;
  title: string;
}

/** A link. */
export interface Place {
  href: string;
  title: string;
}

export interface DocsPage {
  title: string;
  /** Its own address, where the list of all pages has it. */
  href: string | null;
  content: Html;
  /** Told as 'On this page', where there is more than one. */
  headings?: readonly Heading[];
  /** Those that were searched for. */
  words?: string;
  previous?: Place | undefined;
  next?: Place | undefined;
}

/** Loaded in the page itself: on a slow line each further request is a second before anything is seen. */
const STYLE = docs_css.replace(/\/\*.*?\*\/|\s*\n\s*/gs, '');

/** Nothing from another host: the pages work without internet. Injected styles and scripts fail. */
export const CONTENT_SECURITY_POLICY =
  `default-src 'none'; script-src 'self'; style-src 'sha256-${new Bun.CryptoHasher('sha256').update(STYLE).digest('base64')}'; ` +
  "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

export function docsPage(reference: Reference, page: DocsPage): string {
  const { title, content, headings = [], words = '' } = page;
  const has_headings = headings.length > 1;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Satchel</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<button class="menu" type="button" popovertarget="menu">Menu</button>
<a class="brand" href="/docs/guide/start">Satchel <span>Docs</span></a>
<form action="/docs/search" role="search">
<input type="search" name="q" value="${words}" aria-label="Search guides and endpoints" placeholder="Search guides and endpoints">
</form>
<nav aria-label="Elsewhere"><a href="/docs/guide/start">Guides</a><a href="/docs">API</a><a href="/console">Console</a></nav>
</header>
<div class="page">
${menu(reference, page.href)}
<main id="content" tabindex="-1">
${has_headings ? html`<details class="toc-above"><summary>On this page</summary>${headingList(headings)}</details>` : ''}
${content}
${around(page)}
</main>
${has_headings ? html`<nav class="toc" aria-label="On this page"><p>On this page</p>${headingList(headings)}</nav>` : ''}
</div>
</body>
</html>
`.text;
}

/** All pages: at the side where there is room, else behind the button. */
function menu({ groups }: Reference, current: string | null): Html {
  const link = ({ href, title }: Place): Html =>
    href === current
      ? html`<li><a href="${href}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${href}">${title}</a></li>`;
  const guides = readGuides().map(({ name, title }) => link({ href: `/docs/guide/${name}`, title }));
  const endpoints = [
    { href: '/docs', title: 'Overview' },
    ...groups.map(({ slug, name }) => ({ href: `/docs/api/${slug}`, title: name })),
  ].map(link);
  return html`<nav class="all" id="menu" popover aria-label="All pages">
<p>Guides</p><ul>${joined(guides)}</ul>
<p>API reference</p><ul>${joined(endpoints)}</ul>
</nav>`;
}

function headingList(headings: readonly Heading[]): Html {
  return html`<ul>${joined(headings.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`))}</ul>`;
}

function around({ previous, next }: DocsPage): Html {
  if (!previous && !next) return new Html('');
  const link = (rel: string, label: string, to: Place | undefined): Html | '' =>
    to ? html`<a rel="${rel}" href="${to.href}"><small>${label}</small>${to.title}</a>` : '';
  return html`<nav class="around" aria-label="Previous and next">${link('prev', 'Previous', previous)}${link('next', 'Next', next)}</nav>`;
}

export function joined(parts: readonly Html[]): Html {
  return new Html(parts.map(({ text }) => text).join(''));
}

/** Lines that can be copied; wider than a telephone, they scroll by themselves, by the keyboard too. */
export function codeBlock(text: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${text}</code></pre></div>`;
}
