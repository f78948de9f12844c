/** A part of a page, with its heading. `flush`: what is in it, a table say, goes to the border. */
import type { ComponentChildren } from 'preact';
import { mayWrite } from '../capabilities.ts';

export function Panel(props: {
  title?: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  tone?: 'danger';
  flush?: boolean;
  /** It is there to change something: who is read-only does not see it, nor what is in danger by it. */
  is_for_writing?: boolean;
  children: ComponentChildren;
}) {
  const { title, lead, actions, tone, flush, children } = props;
  if ((props.is_for_writing || tone === 'danger') && !mayWrite()) return null;
  return (
    <section class={`panel${tone ? ` ${tone}` : ''}`}>
      {(title || actions) && (
        <div class="panel-head">
          {title && <h2>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
          {lead && <p class="lead">{lead}</p>}
        </div>
      )}
      {flush ? <div class="panel-flush">{children}</div> : <div class="panel-body">{children}</div>}
    </section>
  );
}

/** What few need, folded away: open where something in it is set, or refused (form.tsx opens it then). */
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

/** Names and values of one thing. */
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
