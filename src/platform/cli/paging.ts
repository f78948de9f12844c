/** Lists that are read page by page: their options, and the line that tells of the next page. */
import type { Command } from 'commander';
import { DEFAULT_PER_PAGE, MAX_PER_PAGE } from '../../limits.ts';
import type { PageMeta, PageQuery } from '../http/pagination.ts';
import { numberOption, type Options, wholeNumber } from './options.ts';
import type { Table } from './tables.ts';

export function withPaging<C extends Command>(command: C): C {
  return command
    .option(
      '--limit <n>',
      `at most so many on a page (default: ${DEFAULT_PER_PAGE}, at most ${MAX_PER_PAGE})`,
      wholeNumber(1),
    )
    .option('--page <n>', 'which page', wholeNumber(1));
}

export function pageOf(options: Options): PageQuery {
  return {
    page: numberOption(options, 'page') ?? 1,
    per_page: numberOption(options, 'limit') ?? DEFAULT_PER_PAGE,
  };
}

/** A table of one page, which says where it is in the list unless it is all of it. */
export function pagedTable(table: Table, meta: PageMeta): Table {
  if (meta.last_page === 1) return table;
  const next = meta.next_page === null ? '' : ` Next: --page ${meta.next_page}.`;
  return (columns) => `${table(columns)}\n\n${meta.from ?? 0} to ${meta.to ?? 0} of ${meta.total}.${next}`;
}
