/** Writes what a toolbar puts into a text, in each of the languages. */

export type Language = 'markdown' | 'html' | 'text';

interface Marks {
  bold: readonly [before: string, after: string];
  italic: readonly [before: string, after: string];
  link(url: string): readonly [before: string, after: string];
  picture(url: string, alt: string): string;
}

const inHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
const inMarkdown = (text: string): string => text.replaceAll(/[\\[\]]/g, '\\$&');

/** Text alone has none. */
export const MARKS: Readonly<Record<Exclude<Language, 'text'>, Marks>> = {
  markdown: {
    bold: ['**', '**'],
    italic: ['*', '*'],
    link: (url) => ['[', `](${url})`],
    picture: (url, alt) => `![${inMarkdown(alt)}](${url})`,
  },
  html: {
    bold: ['<strong>', '</strong>'],
    italic: ['<em>', '</em>'],
    link: (url) => [`<a href="${inHtml(url)}">`, '</a>'],
    picture: (url, alt) => `<img src="${inHtml(url)}" alt="${inHtml(alt)}" width="560">`,
  },
};

interface Lines {
  title: string;
  /** Before each line. */
  markdown: string;
  /** Around them. */
  html: readonly [before: string, after: string];
}

export const LINES: Readonly<Record<'heading' | 'list' | 'quote', Lines>> = {
  heading: { title: 'Heading', markdown: '## ', html: ['<h2>', '</h2>'] },
  list: { title: 'List', markdown: '- ', html: ['<ul>\n  <li>', '</li>\n</ul>'] },
  quote: { title: 'Quote', markdown: '> ', html: ['<blockquote>', '</blockquote>'] },
};
