/** What was loaded, once it is: lines that wait before, what the API said where it refused. */
import type { ComponentChildren } from 'preact';
import type { Load } from '../use-load.ts';
import { ErrorBox } from './error-box.tsx';

export function Loaded<T>({ load, children }: { load: Load<T>; children: (data: T) => ComponentChildren }) {
  if (load.error) return <ErrorBox error={load.error} retry={load.reload} />;
  if (load.data === null) return <Skeleton />;
  return <>{children(load.data)}</>;
}

/** Grey lines where text is on its way. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div class="stack" aria-busy="true">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class={`skeleton${index % 2 ? ' half' : ''}`} />
      ))}
    </div>
  );
}
