/** What is being typed, once it has rested: so that the server is not asked for each key. */
import { useEffect, useState } from 'preact/hooks';

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
