/** A link that looks like a button. Whoever may not open where it leads does not see it. */
import type { ComponentChildren } from 'preact';
import { addressOf, type Endpoint, type Input } from '../api.ts';
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

/** Saves what an endpoint answers as a file, which goes to the disk as it comes: what a script fetches is held in memory. */
export function FileLink<E extends Endpoint>(props: {
  endpoint: E;
  input: Input<E>;
  is_small?: boolean;
  children: ComponentChildren;
}) {
  const { endpoint, input, is_small, children } = props;
  return (
    <a class={`button${is_small ? ' small' : ''}`} href={addressOf(endpoint, input)} download>
      {children}
    </a>
  );
}

/** Long enough for any browser to have taken the file. */
const TAKEN_MS = 60_000;

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
}
