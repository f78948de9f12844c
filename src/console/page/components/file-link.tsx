/** Saves what an endpoint answers as a file, which goes to the disk as it comes: what a script fetches is held in memory. */
import type { ComponentChildren } from 'preact';
import { addressOf, type Endpoint, type Input } from '../api.ts';

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
