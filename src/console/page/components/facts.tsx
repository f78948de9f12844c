/** Names and values of one thing. */
import type { ComponentChildren } from 'preact';

export function Facts({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value ?? <span class="muted">—</span>}</dd>
        </>
      ))}
    </dl>
  );
}
