/** Parts that pages are made of: a heading, panels, facts, folded parts, empty places, loading and its failure. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { mayWrite, placeOf } from '../capabilities.ts';
import { notePlace } from '../places.ts';
import { BASE } from '../router.ts';
import { person } from '../session.ts';
import type { Load } from '../use-load.ts';
import { Command } from './copy-button.tsx';
import { Drawing, type DrawingName } from './drawing.tsx';
import { ErrorBox } from './error-box.tsx';
import { Icon } from './icon.tsx';

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

/** Options that few need, folded away. They are open where one is set, or refused (form.tsx opens them then). */
export function Advanced(props: {
  title?: string;
  /** True where a field in it has another value than it has by itself. */
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

/** Heading of a page: its title, which is the document's too, what leads back, a line of explanation, and the main acts. */
export function PageHeader(props: {
  title: string;
  /** The page above this one. */
  back?: { href: string; label: string };
  /** One sentence: what is this, for somebody who sees it for the first time? */
  lead?: ComponentChildren;
  /** Beside the title: a Status, say. */
  beside?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  const { title, back, lead, beside, actions } = props;
  useEffect(() => {
    document.title = `${title} · Satchel`;
    const path = location.pathname.slice(BASE.length) || '/';
    if (person.value && placeOf.find(path)) notePlace(person.value.id, { path, title });
  }, [title]);
  return (
    <header class="page-header">
      {back && (
        <a class="back" href={back.href}>
          <Icon name="back" size={14} />
          {back.label}
        </a>
      )}
      <div class="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {beside}
        {actions && <div class="actions">{actions}</div>}
      </div>
      {lead && <p class="lead">{lead}</p>}
    </header>
  );
}

/** Tells what would fill an empty place, with the button or the command that does. */
export function Empty(props: {
  title: string;
  /** Of a place that something will fill. */
  drawing?: DrawingName;
  command?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      {props.drawing && <Drawing of={props.drawing} />}
      <p class="empty-title">{props.title}</p>
      {props.children}
      {props.command && <Command of={props.command} />}
    </div>
  );
}

/** Shows data once they are loaded: grey lines before that, and the API's message where it refused. */
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

/** A sentence or two that stand out: what is so, or what has just become so, where it has a role. */
export function Notice(props: {
  tone?: 'good' | 'warn' | 'bad';
  role?: 'status' | 'alert';
  children: ComponentChildren;
}) {
  const { tone, role, children } = props;
  return (
    <div class={`notice${tone ? ` ${tone}` : ''}`} role={role}>
      <p>{children}</p>
    </div>
  );
}
