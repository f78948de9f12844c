/** The pages of the handbook and of its search: HTML that needs no script, in the look of the console. */
import { Html, html } from '../../platform/http/pages.ts';
import { type Guide, readGuides } from './guides.ts';
import type { Found } from './search.ts';

export function guidePage(guide: Guide): string {
  return frame({ title: guide.title, current: guide, content: new Html(guide.html), words: '' });
}

export function searchPage(words: string, found: readonly Found[]): string {
  const told = found.length === 0 ? html`<p>Nothing in the guides or the endpoints says that.</p>` : '';
  const items = found.map(
    ({ title, where, href, excerpt }) =>
      html`<li><a href="${href}">${title}</a> <span class="where">${where}</span><p>${excerpt}</p></li>`,
  );
  const content = html`<h1>${words === '' ? 'Search' : `Search: ${words}`}</h1>
${words === '' ? html`<p>Type what you look for, such as: send email.</p>` : told}
<ol class="found">${joined(items)}</ol>`;
  return frame({ title: 'Search', current: null, content, words });
}

export function noGuidePage(): string {
  const content = html`<h1>There is no such guide</h1><p>Those that there are stand in the list.</p>`;
  return frame({ title: 'There is no such guide', current: null, content, words: '' });
}

function frame(page: { title: string; current: Guide | null; content: Html; words: string }): string {
  const { title, current, content, words } = page;
  const guides = readGuides().map((guide) =>
    guide === current
      ? html`<li><a href="/docs/guide/${guide.name}" aria-current="page">${guide.title}</a>${partsOf(guide)}</li>`
      : html`<li><a href="/docs/guide/${guide.name}">${guide.title}</a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Satchel</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guide.css">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="brand" href="/docs/guide/start">Satchel</a>
<form action="/docs/search" role="search">
<input type="search" name="q" value="${words}" aria-label="Search guides and endpoints" placeholder="Search guides and endpoints">
</form>
<nav aria-label="Elsewhere"><a href="/docs">Endpoints</a> <a href="/console">Console</a></nav>
</header>
<div class="page">
<nav class="guides" aria-label="Guides"><ul>${joined(guides)}</ul></nav>
<main id="content" tabindex="-1">
${content}
</main>
</div>
</body>
</html>
`.text;
}

/** The sections of the guide that is open, below its name. */
function partsOf(guide: Guide): Html {
  const parts = guide.sections.filter(({ id }) => id !== '');
  const items = parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  return html`<ul>${joined(items)}</ul>`;
}

function joined(parts: readonly Html[]): Html {
  return new Html(parts.map(({ text }) => text).join(''));
}
