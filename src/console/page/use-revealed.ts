/**
 * A secret that is shown for a while: it goes by itself, when another one is shown, and when the page is left, for another
 * one of the console (it lives in the page's state alone) as well as for another site.
 */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { browserNow } from './time.ts';

/** Long enough to copy it, too short to be found by whoever comes by later. */
const SHOWN_S = 45;

export interface Revealed<T> {
  /** Null while nothing is shown. */
  shown: T | null;
  /** Until it is hidden. */
  left_s: number;
  show(value: T): void;
  hide(): void;
}

/** `shown_s` null: until it is hidden or the page is left, for what cannot be shown again. */
export function useRevealed<T>(shown_s: number | null = SHOWN_S): Revealed<T> {
  const [state, setState] = useState<{ value: T; since_ms: number } | null>(null);
  const [left_s, setLeft] = useState(0);
  const hide = useCallback(() => setState(null), []);
  const show = useCallback(
    (value: T) => {
      setState({ value, since_ms: browserNow() });
      setLeft(shown_s ?? 0);
    },
    [shown_s],
  );
  useEffect(() => {
    if (!state) return;
    // A page that is left may be kept by the browser, as it was, for whoever goes back.
    addEventListener('pagehide', hide);
    const tick = (): void => {
      if (shown_s === null) return;
      const gone_s = Math.floor((browserNow() - state.since_ms) / 1000);
      // A clock that was set meanwhile does not tell how long that took.
      if (gone_s < 0 || gone_s >= shown_s) hide();
      else setLeft(shown_s - gone_s);
    };
    const timer = setInterval(tick, 1000);
    return () => {
      clearInterval(timer);
      removeEventListener('pagehide', hide);
    };
  }, [state, shown_s, hide]);
  return { shown: state === null ? null : state.value, left_s, show, hide };
}
