/** Lists are read page by page: the options of every list verb, and the line that tells of the next page. */
import type { Command } from 'commander';
import { MAX_PER_PAGE } from '../../limits.ts';
import type { Page, PageMeta, PageQuery } from '../http/pagination.ts';
import type { CliContext, CliResult } from './cli.ts';
import { numberOption, type Options, wholeNumber } from './options.ts';
import { formatTable, type Table } from './tables.ts';

export function addPaging<C extends Command>(verb: C): C {
  return verb
    .option(
      '--limit <n>',
      `at most so many on a page (default, and at most: ${MAX_PER_PAGE})`,
      wholeNumber(1),
    )
    .option('--page <n>', 'which page', wholeNumber(1));
}

export function pageOf(options: Options): PageQuery {
  return {
    page: numberOption(options, 'page') ?? 1,
    per_page: numberOption(options, 'limit') ?? MAX_PER_PAGE,
  };
}

/** Where a page is in its list, and how to get the next. */
function placeOf(meta: PageMeta): string {
  const next = meta.next_page === null ? '' : ` Next: --page ${meta.next_page}.`;
  const total = meta.total_capped ? `${meta.total} or more` : meta.total;
  return `${meta.from ?? 0} to ${meta.to ?? 0} of ${total}.${next}`;
}

/** A verb prints a page as rows with titles, or says `empty`. */
export function presentPage<T>(
  { note }: Pick<CliContext, 'note'>,
  options: Options,
  page: Page<T>,
  shown: { row: (one: T) => Readonly<Record<string, unknown>>; empty: string },
): CliResult {
  const { data, meta } = page;
  if (options.json === true && meta.last_page > 1) note(placeOf(meta));
  return { json: data, text: pagedTable(formatTable(data.map(shown.row), shown.empty), meta) };
}

/** A table of one page, which says where it is in the list unless it is all of it. */
function pagedTable(table: Table, meta: PageMeta): Table {
  return meta.last_page === 1 ? table : (columns) => `${table(columns)}\n\n${placeOf(meta)}`;
}
