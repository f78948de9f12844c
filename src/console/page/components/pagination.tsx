/** Tells which part of a list is shown, with ways to the parts before and behind it. */
import { setQuery } from '../router.ts';
import type { PageMeta } from '../use-load.ts';
import { Icon } from './icon.tsx';
import { Count } from './quantity.tsx';

export function Pagination({ meta }: { meta: PageMeta }) {
  const { current_page, last_page, total, total_capped, from, to } = meta;
  const go = (page: number): void => setQuery({ page: page === 1 ? '' : String(page) });
  return (
    <nav class="table-foot" aria-label="Pages of the list">
      <span>
        {from === null ? (
          'Nothing on this page'
        ) : (
          <>
            {from}–{to}
          </>
        )}{' '}
        of <Count of={total} />
        {total_capped && ' or more'}
      </span>
      {last_page > 1 && (
        <span class="row">
          <button
            type="button"
            class="button quiet square"
            aria-label="Page before"
            disabled={current_page <= 1}
            onClick={() => go(current_page - 1)}
          >
            <Icon name="back" />
          </button>
          <span>
            Page {current_page} of {last_page}
            {total_capped && ' or more'}
          </span>
          <button
            type="button"
            class="button quiet square"
            aria-label="Next page"
            disabled={current_page >= last_page}
            onClick={() => go(current_page + 1)}
          >
            <Icon name="forward" />
          </button>
        </span>
      )}
    </nav>
  );
}
