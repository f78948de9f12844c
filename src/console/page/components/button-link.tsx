/** A link that looks like a button. Whoever may not open where it leads does not see it. */
import type { ComponentChildren } from 'preact';
import { mayOpen, placeOf } from '../capabilities.ts';
import { BASE } from '../router.ts';

export function ButtonLink(props: {
  href: string;
  kind?: 'primary';
  is_small?: boolean;
  children: ComponentChildren;
}) {
  const { href, kind, is_small, children } = props;
  const place = placeOf.find(href.slice(BASE.length).replace(/[?#].*$/s, ''));
  if (place && !mayOpen(place)) return null;
  return (
    <a class={['button', kind, is_small && 'small'].filter(Boolean).join(' ')} href={href}>
      {children}
    </a>
  );
}
