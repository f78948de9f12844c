/** What few need, folded away: open where something in it is set, or refused (form.tsx opens it then). */
import type { ComponentChildren } from 'preact';

export function Advanced(props: {
  title?: string;
  /** Whether a field in it has another value than it has by itself. */
  is_set?: boolean;
  children: ComponentChildren;
}) {
  const { title = 'Advanced', is_set = false, children } = props;
  return (
    <details class="more" open={is_set}>
      <summary>{title}</summary>
      <div class="form">{children}</div>
    </details>
  );
}
