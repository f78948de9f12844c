/** What was last found, kept for a while: an examination looks at every file and asks the DNS, too much for each visit of a page. */
import { signal } from '@preact/signals';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Finding } from '../../api.generated.ts';
import { ApiError, call, reloads } from '../../api.ts';

const KEPT_MS = 5 * 60_000;

/** As many as a page has: the worst come first. */
const PER_PAGE = 50;

const latest = signal<{ findings: Finding[]; at_ms: number } | null>(null);

export interface LatestFindings {
  data: Finding[] | null;
  error: ApiError | null;
  is_loading: boolean;
  reload(): void;
}

/** `is_wanted` false: nothing is asked for, as of those who may not know. */
export function useFindings(is_wanted = true): LatestFindings {
  const [error, setError] = useState<ApiError | null>(null);
  const [is_loading, setLoading] = useState(false);
  const epoch = reloads.value;
  const reload = useCallback(() => {
    setLoading(true);
    setError(null);
    call('GET /findings', { query: { per_page: PER_PAGE } })
      .then(({ data: findings }) => {
        latest.value = { findings, at_ms: performance.now() };
      })
      .catch((thrown: unknown) => {
        // Without a connection the banner says so, and this is loaded again by itself.
        if (thrown instanceof ApiError && thrown.status !== 0) setError(thrown);
      })
      .finally(() => setLoading(false));
  }, []);
  useEffect(() => {
    const is_fresh = latest.value !== null && performance.now() - latest.value.at_ms < KEPT_MS;
    if (is_wanted && !is_fresh) reload();
  }, [is_wanted, epoch]);
  return { data: latest.value?.findings ?? null, error, is_loading, reload };
}
