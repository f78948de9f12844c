/** The focus of a first field. A browser heeds `autofocus` only in a page that it loads and a dialog that it opens, not in what is drawn later. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** For the `ref` of the field. */
export function useFirstFocus<E extends HTMLElement>(is_focused: boolean | undefined): RefObject<E | null> {
  const field = useRef<E>(null);
  useEffect(() => {
    if (is_focused) field.current?.focus({ preventScroll: true });
  }, []);
  return field;
}
