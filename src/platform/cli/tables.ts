/** How answers are laid out for people: tables, and the fields of one thing. */

export type Cell = string | number | boolean | null | undefined;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  return typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : String(cell);
}

/** In a table: a relay's reply of several lines, say, would get between the rows. */
function lineText(cell: Cell): string {
  return cellText(cell).replace(/\s*\n\s*/g, ' ');
}

/** Rows in aligned columns under their titles; `empty` is said when there are none. */
export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const lines = [titles.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(lineText))];
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ''))),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values of one thing, aligned. */
export function formatFields(fields: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`)
    .join('\n');
}

/** A size for people: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}
