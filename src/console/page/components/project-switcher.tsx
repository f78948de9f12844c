/** Names the project that is looked at, and leads to another one, to the same part of it where there is one. */
import { useState } from 'preact/hooks';
import type { ProjectWithKeys } from '../api.generated.ts';
import { PAGES } from '../pages.ts';
import { hrefOf, to } from '../router.ts';
import { useLoad } from '../use-load.ts';
import { useRested } from '../use-rested.ts';
import { Icon } from './icon.tsx';
import { Status } from './status.tsx';
import { moveInside, useMenu } from './use-menu.ts';

/** More than that is searched for by name. */
const SHOWN = 8;
export function ProjectSwitcher(props: {
  project: string | null;
  /** Null until it is known. */
  known: ProjectWithKeys | null;
  path: string;
}) {
  const { project, known, path } = props;
  const menu = useMenu();
  const [is_open, setOpen] = useState(false);
  const name = project === null ? 'Choose a project' : (known?.name ?? project);
  const is_inactive = known?.status === 'inactive';
  return (
    <details class="menu switcher" ref={menu} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary
        aria-label={
          project === null ? name : `Project ${name}${is_inactive ? ' inactive' : ''}: choose another`
        }
      >
        <Icon name="projects" />
        <span>{name}</span>
        {is_inactive && <Status of="inactive" />}
        <Icon name="down" size={14} />
      </summary>
      {is_open && <Projects now={project} part={partOf(path)} />}
    </details>
  );
}

/** The part of a project that a path is in, such as `/keys`: one that every project has. */
function partOf(path: string): string {
  const part = path.split('/')[3];
  return PAGES.some((entry) => entry.nav && entry.path === `/projects/:project/${part}`) ? `/${part}` : '';
}

function Projects({ now, part }: { now: string | null; part: string }) {
  const [typed, setTyped] = useState('');
  const q = useRested(typed);
  const { data } = useLoad('GET /projects', { query: { per_page: SHOWN, ...(q && { q }) } });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its field and links take the keys; this hands them on.
    <div class="menu-panel" onKeyDown={moveInside}>
      <input
        class="input"
        type="search"
        aria-label="Find a project"
        placeholder="Find a project"
        autocomplete="off"
        spellcheck={false}
        ref={focusOn}
        onInput={(event) => setTyped(event.currentTarget.value.trim())}
      />
      <p class="hidden" role="status">
        {data && `${data.meta.total} found`}
      </p>
      {data?.data.map(({ slug, name }) => (
        <a key={slug} href={hrefOf(to`/projects/${slug}` + part)} aria-current={slug === now || undefined}>
          {name}
        </a>
      ))}
      {data?.data.length === 0 && <p class="muted">No project is called so.</p>}
      <a class="all" href={hrefOf('/projects')}>
        All projects
      </a>
    </div>
  );
}

/** Whoever opens it chooses, by name or by arrow. */
function focusOn(field: HTMLInputElement | null): void {
  field?.focus();
}
