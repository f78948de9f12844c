/** A moment, told from now ("3 minutes ago"), with the exact one on hover; `exact` has it the other way round; `none`: in its place. */
import { useEffect, useState } from 'preact/hooks';
import { tellExact, tellRelative } from '../time.ts';

const REFRESH_MS = 30_000;

export function Time(props: { at: string | null | undefined; exact?: boolean; none?: string }) {
  const { at, exact = false, none = '—' } = props;
  const [, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((turn) => turn + 1), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span class="muted whole">{none}</span>;
  const at_ms = Date.parse(at);
  const told = [tellRelative(at_ms), tellExact(at_ms)] as const;
  return (
    <time dateTime={at} title={exact ? told[0] : told[1]}>
      {exact ? told[1] : told[0]}
    </time>
  );
}

/** A sentence of the API, whose moments are told in the reader's own zone. */
export function WithTimes({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
  return <>{parts.map((part, index) => (index % 2 === 1 ? <Time at={part} exact /> : part))}</>;
}
