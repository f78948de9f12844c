/**
 * A list as a table: lines that wait, what the API said where it refused, what would fill it where it is empty, pages below. With
 * `href`, a row's first cell links to it; the arrow keys go from link to link. On a narrow screen each row is a card.
 */
import type { ComponentChildren } from 'preact';
import { setQuery, useQuery } from '../router.ts';
import type { List } from '../use-load.ts';
import { ErrorBox } from './error-box.tsx';
import { Empty, Skeleton } from './page.tsx';
import { Pagination } from './pagination.tsx';

export interface Column<Row> {
  title: string;
  cell(row: Row): ComponentChildren;
  is_number?: boolean;
  /** The value of `sort` for this column, where the endpoint sorts; `-` before it turns the order round. */
  sort?: string;
}

export function DataTable<Row>(props: {
  /** The table's name, for those who hear it. */
  label: string;
  list: List<Row>;
  columns: readonly Column<Row>[];
  keyOf(row: Row): string | number;
  href?: (row: Row) => string;
  /** Shown in place of an empty table. */
  empty: ComponentChildren;
}) {
  const { label, list, columns, keyOf, href, empty } = props;
  if (list.error) return <ErrorBox error={list.error} retry={list.reload} />;
  if (!list.data) {
    return (
      <div class="panel panel-body">
        <Skeleton lines={6} />
      </div>
    );
  }
  const { data: rows, meta } = list.data;
  if (rows.length === 0)
    return <div class="panel">{list.is_filtered ? <NothingFound all={list.unfiltered} /> : empty}</div>;
  return (
    <div class="panel" aria-busy={list.is_loading}>
      <Table label={label} rows={rows} columns={columns} keyOf={keyOf} href={href} />
      {meta && <Pagination meta={meta} />}
    </div>
  );
}

/** The table alone, of rows that are there. */
export function Table<Row>(props: {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string | number;
  href?: ((row: Row) => string) | undefined;
}) {
  const { label, rows, columns, keyOf, href } = props;
  return (
    <div class="table-wrap">
      <table class="table-cards" aria-label={label} onKeyDown={moveWithArrows}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, index) => (
                <td
                  key={column.title}
                  class={column.is_number ? 'number' : undefined}
                  data-label={column.title}
                >
                  {index === 0 && href ? (
                    <a class="row-link" href={href(row)}>
                      {column.cell(row)}
                    </a>
                  ) : (
                    <span>{column.cell(row)}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading<Row>({ column }: { column: Column<Row> }) {
  const { title, sort, is_number } = column;
  const now = useQuery().get('sort');
  const direction = now === sort ? 'ascending' : now === `-${sort}` ? 'descending' : 'none';
  const cls = is_number ? 'number' : undefined;
  if (sort === undefined) {
    return (
      <th scope="col" class={cls}>
        {title}
      </th>
    );
  }
  return (
    <th scope="col" class={cls} aria-sort={direction}>
      <button
        type="button"
        class="sort"
        onClick={() => setQuery({ sort: direction === 'descending' ? sort : `-${sort}` })}
      >
        {title} {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
      </button>
    </th>
  );
}

function NothingFound({ all }: { all: string }) {
  return (
    <Empty drawing="nothing" title="Nothing matches">
      <a href={all}>Show everything</a>
    </Empty>
  );
}

function moveWithArrows(event: KeyboardEvent & { currentTarget: HTMLTableElement }): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.row-link')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at + step];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}
