/** Tells the form around a field that it was changed by something else than typing: chosen in a dialog, or made. */
import { useEffect, useRef } from 'preact/hooks';

export function useChangesOf(value: string) {
  const field = useRef<HTMLDivElement>(null);
  const last = useRef(value);
  useEffect(() => {
    if (last.current !== value) field.current?.dispatchEvent(new Event('input', { bubbles: true }));
    last.current = value;
  }, [value]);
  return field;
}
