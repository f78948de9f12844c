/** A part of a page, with its heading. `flush`: what is in it, a table say, goes to the border. */
import type { ComponentChildren } from 'preact';

export function Panel(props: {
  title?: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  tone?: 'danger';
  flush?: boolean;
  children: ComponentChildren;
}) {
  const { title, lead, actions, tone, flush, children } = props;
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
