/** A link that looks like a button. Whoever may not open where it leads does not see it. */
import type { ComponentChildren } from 'preact';
import { mayOpen } from '../capabilities.ts';
import { BASE } from '../router.ts';
import { findPage } from './page-view.tsx';

export function ButtonLink(props: {
  href: string;
  kind?: 'primary';
  is_small?: boolean;
  children: ComponentChildren;
}) {
  const { href, kind, is_small, children } = props;
  const entry = findPage(href.slice(BASE.length).replace(/[?#].*$/s, ''))?.entry;
  if (entry && !mayOpen(entry)) return null;
  return (
    <a class={['button', kind, is_small && 'small'].filter(Boolean).join(' ')} href={href}>
      {children}
    </a>
  );
}
