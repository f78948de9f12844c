/** The page of a list's archive, and its feed. Pure functions. */
import { toIso } from '../../platform/host/clock.ts';
import { Html, html } from '../../platform/http/pages.ts';
import { DEFAULT_LANGUAGE, type Reader } from '../../platform/words/words.ts';
import type { Issues, ListArchive } from './archive.ts';

/** What the page shows below its heading. */
export function archiveContent(
  { list, settings, url, sign_up_url }: ListArchive,
  { issues, page, has_more }: Issues,
  { words, language }: Reader,
): Html {
  const { archive, join } = words;
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: settings.timezone });
  const shown = issues.map(
    (each) =>
      html`<p dir="auto"><a href="${each.url}">${each.title}</a><br><time datetime="${toIso(each.sent_at)}">${day.format(each.sent_at)}</time></p>`,
  );
  const ways = [
    ...(page > 1 ? [html`<a rel="prev" href="?page=${page - 1}">${archive.newer}</a>`] : []),
    ...(has_more ? [html`<a rel="next" href="?page=${page + 1}">${archive.older}</a>`] : []),
  ];
  const further = [
    ...(sign_up_url === null ? [] : [html`<a href="${sign_up_url}">${join.title({ list: list.name })}</a>`]),
    html`<a href="${feedUrl(url)}">${archive.feed}</a>`,
  ];
  return html`${together(shown.length > 0 ? shown : [html`<p>${archive.none}</p>`], '\n')}
${ways.length > 0 ? html`<p>${together(ways, ' · ')}</p>` : ''}
<p>${together(further, ' · ')}</p>`;
}

function together(parts: readonly Html[], between: string): Html {
  return new Html(parts.map(({ text }) => text).join(between));
}

/** What feed readers find in the head of the page. */
export function feedLink({ list, url }: ListArchive): Html {
  return html`<link rel="alternate" type="application/atom+xml" title="${list.name}" href="${feedUrl(url)}">`;
}

const feedUrl = (archive_url: string): string => `${archive_url}/feed.xml`;

/** What XML 1.0 can't hold, in whatever form. */
const NO_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** The feed in Atom (RFC 4287). Ids tell the same broadcast at any address of ours. */
export function feedText({ list, brand, url }: ListArchive, { issues }: Issues): string {
  const plain = (text: string): string => text.replaceAll(NO_XML, '');
  const entries = issues.map(
    (each) => html`<entry>
<id>urn:ulid:${each.id}</id>
<title>${plain(each.title)}</title>
<link href="${each.url}"/>
<published>${toIso(each.sent_at)}</published>
<updated>${toIso(each.sent_at)}</updated>
${each.summary === null ? '' : html`<summary>${plain(each.summary)}</summary>\n`}</entry>`,
  );
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${list.language ?? DEFAULT_LANGUAGE}">
<id>urn:ulid:${list.public_id}</id>
<title>${plain(list.name)}</title>
<updated>${toIso(issues[0]?.sent_at ?? list.created_at)}</updated>
<author><name>${plain(brand.name)}</name></author>
<link href="${url}"/>
<link rel="self" type="application/atom+xml" href="${feedUrl(url)}"/>
${together(entries, '\n')}
</feed>
`.text;
}
