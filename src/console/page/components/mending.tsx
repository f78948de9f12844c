/** The button to where something is mended, in a tab of its own, so that what was entered here is here when one comes back. */
import { hrefOf, matchPath, usePath } from '../router.ts';
import { wayOf } from './refusal.ts';

/** Nothing where no page does what the command does. */
export function Mending({ command }: { command: string }) {
  const top = usePath().split('/').slice(0, 3).join('/');
  const project = matchPath('/projects/:project', top)?.project ?? null;
  const way = wayOf(command, project === 'new' ? null : project);
  if (way === null) return null;
  return (
    <a class="button small" href={hrefOf(way.path)} target="_blank" rel="noreferrer">
      {way.label}
      <span class="hidden"> (in a new tab)</span>
    </a>
  );
}
