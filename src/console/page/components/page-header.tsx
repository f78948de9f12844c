/** Heading of a page: its title, which is the document's too, what leads back, a line of explanation, and the main acts. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { placeOf } from '../capabilities.ts';
import { notePlace } from '../places.ts';
import { BASE } from '../router.ts';
import { person } from '../session.ts';
import { Icon } from './icon.tsx';

export function PageHeader(props: {
  title: string;
  /** What stands above this page. */
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
