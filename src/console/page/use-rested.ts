/** A text that somebody types, once they have paused: so the server is not asked for each key. */
import { useEffect, useRef, useState } from 'preact/hooks';

const REST_MS = 300;

export function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

/** Tells the form around a field that it was changed by something else than typing: chosen in a dialog, or made. */
export function useChangesOf(value: string) {
  const field = useRef<HTMLDivElement>(null);
  const last = useRef(value);
  useEffect(() => {
    if (last.current !== value) field.current?.dispatchEvent(new Event('input', { bubbles: true }));
    last.current = value;
  }, [value]);
  return field;
}
