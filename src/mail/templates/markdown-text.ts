/**
 * Writes Markdown as plain text, the way people write mails: links with their addresses, lists, and tables
 * in columns.
 */
import { type MarkdownElement, type MarkdownNode, Writer } from './markdown-tree.ts';

/** A wider table is written row by row: most mail programs break lines about here. */
const MAX_TABLE_COLUMNS = 78;
const RULE = '-'.repeat(10);

/** The text; null where it would be empty. Throws TooLong. */
export function writeText(tree: readonly MarkdownNode[], max_bytes: number): string | null {
  const page = new Page(max_bytes);
  writeBlocks(page, tree, { is_tight: false });
  const text = page.toString();
  return text.trim() === '' ? null : text;
}

/** What begins the lines of a list item or a quotation: the first line, and all others. */
interface Margin {
  first: string;
  rest: string;
}

/** A text of nested blocks. Each line begins with the margins of the blocks that it is in. */
class Page {
  readonly max_bytes: number;
  readonly #writer: Writer;
  readonly #margins: Margin[] = [];
  #is_at_line_start = true;
  /** Whether the innermost block that holds others is still empty. */
  #is_empty = true;

  constructor(max_bytes: number) {
    this.max_bytes = max_bytes;
    this.#writer = new Writer(max_bytes);
  }

  /** Begins a block below the last one, with an empty line between them unless it is tight. */
  begin({ is_tight }: { is_tight: boolean }): void {
    if (!this.#is_empty) {
      this.#endLine();
      if (!is_tight) this.#endLine();
    }
    this.#is_empty = false;
  }

  within(margin: Margin, write: () => void): void {
    this.#margins.push(margin);
    this.#is_empty = true;
    write();
    // An empty list item still has its bullet.
    if (this.#is_empty && margin.first !== margin.rest) this.write('');
    this.#is_empty = false;
    this.#margins.pop();
  }

  /** Writes within the block that was begun; the text may have several lines. */
  write(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#endLine();
      if (line === '' && text !== '') continue;
      if (this.#is_at_line_start) this.#writer.write(this.#margin());
      this.#is_at_line_start = false;
      this.#writer.write(line);
    }
  }

  #endLine(): void {
    if (this.#is_at_line_start) this.#writer.write(this.#margin().trimEnd());
    this.#writer.write('\n');
    this.#is_at_line_start = true;
  }

  #margin(): string {
    return this.#margins
      .map((margin) => {
        const { first } = margin;
        margin.first = margin.rest;
        return first;
      })
      .join('');
  }

  toString(): string {
    return this.#writer.toString().trimEnd();
  }
}

const BLOCKS = new Set('p h1 h2 h3 h4 h5 h6 ul ol blockquote pre hr table'.split(' '));

/** Writes blocks. Text between them is a block, too. */
function writeBlocks(page: Page, nodes: readonly MarkdownNode[], of: { is_tight: boolean }): void {
  let is_in_line = false;
  for (const node of nodes) {
    if (typeof node !== 'string' && BLOCKS.has(node.tag)) {
      page.begin(of);
      writeBlock(page, node);
      is_in_line = false;
    } else {
      if (!is_in_line) page.begin(of);
      writeInline(page, node);
      is_in_line = true;
    }
  }
}

function writeBlock(page: Page, block: MarkdownElement): void {
  const { tag, children } = block;
  switch (tag) {
    case 'h1':
    case 'h2':
      writeHeading(page, children, tag === 'h1' ? '=' : '-');
      break;
    case 'ul':
    case 'ol':
      writeList(page, block);
      break;
    case 'blockquote':
      page.within({ first: '> ', rest: '> ' }, () => writeBlocks(page, children, { is_tight: false }));
      break;
    case 'pre': {
      const code = children.filter((child) => typeof child === 'string').join('');
      page.within({ first: '    ', rest: '    ' }, () => page.write(code.replace(/\n$/, '')));
      break;
    }
    case 'hr':
      page.write(RULE);
      break;
    case 'table':
      writeTable(page, children);
      break;
    default:
      writeAllInline(page, children);
  }
}

function writeHeading(page: Page, children: readonly MarkdownNode[], rule: string): void {
  const heading = lineOf(children, page.max_bytes);
  page.write(heading);
  if (heading !== '') page.write(`\n${rule.repeat(Math.min(Bun.stringWidth(heading), MAX_TABLE_COLUMNS))}`);
}

function writeList(page: Page, { tag, start, children }: MarkdownElement): void {
  const items = children.filter((child) => typeof child !== 'string');
  const is_tight = !items.some((item) =>
    item.children.some((child) => typeof child !== 'string' && child.tag === 'p'),
  );
  for (const [index, item] of items.entries()) {
    const first = tag === 'ol' ? `${start + index}. ` : '- ';
    if (index > 0) page.begin({ is_tight });
    page.within({ first, rest: ' '.repeat(first.length) }, () =>
      writeBlocks(page, item.children, { is_tight }),
    );
  }
}

function writeTable(page: Page, parts: readonly MarkdownNode[]): void {
  const rows = elementsOf(parts, 'tr').map((row) => elementsOf(row.children, 'th', 'td'));
  // For all cells together: they are built to be measured before they are written.
  let bytes_left = page.max_bytes;
  const [head = [], ...body] = rows.map((row) =>
    row.map((cell) => {
      const text = lineOf(cell.children, bytes_left);
      bytes_left -= Buffer.byteLength(text);
      return text;
    }),
  );
  const widths = head.map((cell) => Bun.stringWidth(cell));
  for (const row of body)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
  const width = widths.reduce((sum, each) => sum + each + 2, -2);
  if (width > MAX_TABLE_COLUMNS) {
    writeRecords(page, head, body);
    return;
  }
  const is_right = (rows[0] ?? []).map(({ align }) => align === 'right');
  const lineUp = (row: readonly string[]): string =>
    widths
      .map((each, column) => {
        const cell = row[column] ?? '';
        const space = ' '.repeat(each - Bun.stringWidth(cell));
        return is_right[column] ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  page.write(lineUp(head));
  page.write(`\n${widths.map((each) => '-'.repeat(each)).join('  ')}`);
  for (const row of body) page.write(`\n${lineUp(row)}`);
}

/** A table that is too wide: each row as lines of `column: cell`. */
function writeRecords(page: Page, head: readonly string[], body: readonly (readonly string[])[]): void {
  if (body.length === 0) page.write(head.join('  '));
  for (const [index, row] of body.entries()) {
    if (index > 0) page.begin({ is_tight: false });
    let is_first = true;
    for (const [column, cell] of row.entries()) {
      if (cell === '') continue;
      if (!is_first) page.write('\n');
      is_first = false;
      if (head[column]) page.write(`${head[column]}: `);
      page.write(cell);
    }
  }
}

function elementsOf(nodes: readonly MarkdownNode[], ...tags: string[]): MarkdownElement[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [];
    if (tags.includes(node.tag)) return [node];
    return node.tag === 'thead' || node.tag === 'tbody' ? elementsOf(node.children, ...tags) : [];
  });
}

/** The text of these nodes on one line. Throws TooLong. */
function lineOf(nodes: readonly MarkdownNode[], max_bytes: number): string {
  const page = new Page(max_bytes);
  writeAllInline(page, nodes);
  return page.toString().replace(/\s+/g, ' ').trim();
}

function writeAllInline(page: Page, nodes: readonly MarkdownNode[]): void {
  for (const node of nodes) writeInline(page, node);
}

function writeInline(page: Page, node: MarkdownNode): void {
  if (typeof node === 'string') page.write(node);
  else if (node.tag === 'br') page.write('\n');
  else if (node.tag === 'img') page.write(node.alt);
  else if (node.tag === 'a') writeLink(page, node);
  else writeAllInline(page, node.children);
}

function writeLink(page: Page, { children, address, is_bare }: MarkdownElement): void {
  const label = lineOf(children, page.max_bytes);
  const shown = address.replace(/^mailto:/i, '');
  if (is_bare || label === '' || label === shown || label === address) page.write(shown);
  else page.write(`${label} <${shown}>`);
}
