/** The pages of the handbook and of the search. */
import { Html, html } from '../../platform/http/pages.ts';
import { type Guide, readGuides } from './guides.ts';
import { docsPage, joined } from './page-frame.ts';
import type { Reference } from './reference.ts';
import type { Search } from './search.ts';

export function guidePage(reference: Reference, guide: Guide): string {
  const guides = readGuides();
  const at = guides.indexOf(guide);
  const place = (of: Guide | undefined) => of && { href: `/docs/guide/${of.name}`, title: of.title };
  return docsPage(reference, {
    title: guide.title,
    href: `/docs/guide/${guide.name}`,
    content: new Html(guide.html),
    headings: guide.sections.filter(({ id }) => id !== ''),
    previous: place(at > 0 ? guides[at - 1] : undefined),
    next: place(guides[at + 1]) ?? { href: '/docs', title: 'API reference' },
  });
}

export function searchPage(reference: Reference, words: string, { found, is_part }: Search): string {
  const items = found.map(
    ({ title, where, href, excerpt }) =>
      html`<li><a href="${href}">${title}</a> <span class="where">${where}</span><p>${excerpt}</p></li>`,
  );
  const content = html`<h1>${words === '' ? 'Search' : `Search: ${words}`}</h1>
${html`<p>${toldOf(words, found.length, is_part)}</p>`}
<ol class="found">${joined(items)}</ol>`;
  return docsPage(reference, { title: 'Search', href: null, content, words });
}

function toldOf(words: string, found: number, is_part: boolean): string {
  if (words === '') return 'Type what you look for, such as: send email.';
  if (found === 0) return 'Nothing in the guides or the endpoints says that.';
  return is_part ? 'Nothing has all of these words. What has some of them:' : '';
}

export function missingPage(reference: Reference, what: 'guide' | 'group of endpoints'): string {
  const title = `There is no such ${what}`;
  const content = html`<h1>${title}</h1><p>Those that there are stand in the list.</p>`;
  return docsPage(reference, { title, href: null, content });
}
