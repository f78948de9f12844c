/** Keeps the last findings for a while: an examination looks at every file and asks the DNS, too much for each visit of a page. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Finding } from '../../api.generated.ts';
import { ApiError, call, reloads } from '../../api.ts';

const KEPT_MS = 60 * 60_000;

/** This browser asks the server again after so long, which may have looked anew for somebody else. */
const ASKED_AGAIN_MS = 5 * 60_000;

/** As many as a page has: the worst come first. */
const PER_PAGE = 50;

const latest = signal<{ findings: Finding[]; looked_at: string; at_ms: number } | null>(null);
const failure = signal<ApiError | null>(null);
const is_asking = signal(false);

/** Asked once, however many look: an examination that runs is waited for. */
async function ask({ anew }: { anew: boolean }): Promise<void> {
  if (is_asking.value) return;
  is_asking.value = true;
  failure.value = null;
  try {
    const { data: findings, looked_at } = await call('GET /findings', {
      query: { per_page: PER_PAGE, ...(!anew && { max_age_seconds: KEPT_MS / 1000 }) },
    });
    latest.value = { findings, looked_at, at_ms: performance.now() };
  } catch (thrown) {
    // Without a connection the banner says so, and this is asked again by itself.
    if (thrown instanceof ApiError && thrown.status !== 0) failure.value = thrown;
  } finally {
    is_asking.value = false;
  }
}

interface LatestFindings {
  data: Finding[] | null;
  looked_at: string | null;
  error: ApiError | null;
  is_loading: boolean;
  reload(): void;
}

/** `is_wanted` false: nothing is asked for, as of those who may not know. */
export function useFindings(is_wanted = true): LatestFindings {
  const epoch = reloads.value;
  useEffect(() => {
    const is_fresh = latest.value !== null && performance.now() - latest.value.at_ms < ASKED_AGAIN_MS;
    if (is_wanted && !is_fresh) void ask({ anew: false });
  }, [is_wanted, epoch]);
  return {
    // Somebody else may have been told, who used this browser before.
    data: is_wanted ? (latest.value?.findings ?? null) : null,
    looked_at: latest.value?.looked_at ?? null,
    error: failure.value,
    is_loading: is_asking.value,
    reload: () => void ask({ anew: true }),
  };
}
