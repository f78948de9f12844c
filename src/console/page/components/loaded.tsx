/** What was loaded, once it is: lines that wait before, what the API said where it refused. */
import type { ComponentChildren } from 'preact';
import type { Load } from '../use-load.ts';
import { ErrorBox } from './error-box.tsx';
import { Skeleton } from './skeleton.tsx';

export function Loaded<T>({ load, children }: { load: Load<T>; children: (data: T) => ComponentChildren }) {
  if (load.error) return <ErrorBox error={load.error} retry={load.reload} />;
  if (load.data === null) return <Skeleton />;
  return <>{children(load.data)}</>;
}
