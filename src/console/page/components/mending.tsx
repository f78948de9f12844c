/** The button to where something is mended, in a tab of its own, so that what was entered here is here when one comes back. */
import { hrefOf, usePath } from '../router.ts';
import { findPage } from './page-view.tsx';
import { wayOf } from './refusal.ts';

/** Nothing where no page does what the command does. */
export function Mending({ command }: { command: string }) {
  const project = findPage(usePath())?.params.project ?? null;
  const way = wayOf(command, project);
  if (way === null || findPage(way.path) === null) return null;
  return (
    <a class="button small" href={hrefOf(way.path)} target="_blank" rel="noreferrer">
      {way.label}
      <span class="hidden"> (in a new tab)</span>
    </a>
  );
}
