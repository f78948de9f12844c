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
