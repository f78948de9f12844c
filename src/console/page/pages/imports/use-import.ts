/** An import as it goes on: asked for ever more rarely while nothing changes, and no more once it has ended. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Import } from '../../api.generated.ts';
import { type Load, useLoad } from '../../use-load.ts';

const FIRST_MS = 1000;
const LAST_MS = 60_000;

/** How long to wait before the next look, after so many that showed nothing new; null for no more. */
export function waitFor(of: Pick<Import, 'status'> | null, looks_without_news: number): number | null {
  if (of && of.status !== 'pending' && of.status !== 'processing') return null;
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(looks_without_news, 10));
}

export function useImport(path: { project: string; import: string }): Load<Import> {
  const [looks, setLooks] = useState(0);
  const [seen, setSeen] = useState<Import | null>(null);
  const load = useLoad(
    'GET /projects/{project}/email-imports/{import}',
    { path },
    {
      every_ms: waitFor(seen, looks),
    },
  );
  const last = useRef('');
  const { data, is_loading } = load;
  useEffect(() => {
    if (is_loading) return;
    // A look that failed shows nothing new either.
    const now = `${data?.status} ${data?.processed_rows}`;
    setLooks((so_far) => (now === last.current ? so_far + 1 : 0));
    last.current = now;
    setSeen(data);
  }, [is_loading, data]);
  return load;
}
