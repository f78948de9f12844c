/** The navigation: Satchel's own pages, or those of the project that is looked at. */
import type { ProjectWithKeys } from '../api.generated.ts';
import { mayOpen } from '../capabilities.ts';
import { type Group, PAGES, type PageEntry } from '../pages.ts';
import { hrefOf } from '../router.ts';
import { Icon } from './icon.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';

type Titles = readonly (readonly [group: Group, title: string])[];

const GROUPS: Titles = [
  ['satchel', ''],
  ['sending', 'Sending'],
  ['access', 'Access'],
  ['running', 'This server'],
];
const GROUPS_OF_PROJECT: Titles = [
  ['project', ''],
  ['app', 'Files and mail'],
  ['marketing', 'Marketing'],
  ['secrets', 'Keys and secrets'],
  ['record', 'History'],
];

interface SidebarProps {
  project: string | null;
  /** Null until it is known. */
  known: ProjectWithKeys | null;
  path: string;
}

export function Sidebar({ project, known, path }: SidebarProps) {
  const groups = project === null ? GROUPS : GROUPS_OF_PROJECT;
  return (
    <nav id="navigation" class="sidebar" aria-label="Main">
      <a class="brand" href={hrefOf('/')}>
        <span class="brand-mark" aria-hidden="true" />
        Satchel
      </a>
      <ProjectSwitcher project={project} known={known} path={path} />
      {groups.map(([group, title]) => {
        const entries = PAGES.filter((entry) => entry.nav?.group === group && mayOpen(entry));
        return entries.length === 0 ? null : (
          <div key={group} class="nav-group">
            {title && <p class="nav-title">{title}</p>}
            <ul>
              {entries.map((entry) => (
                <NavItem key={entry.path} entry={entry} project={project} path={path} />
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function NavItem({ entry, project, path }: { entry: PageEntry; project: string | null; path: string }) {
  const target = entry.path.replace(':project', encodeURIComponent(project ?? ''));
  const is_top = entry.path === '/' || entry.path === '/projects/:project';
  const is_here = path === target;
  const is_below = !is_top && path.startsWith(`${target}/`);
  return (
    <li>
      <a href={hrefOf(target)} aria-current={is_here ? 'page' : is_below ? 'true' : undefined}>
        {entry.nav && <Icon name={entry.nav.icon} />}
        {entry.path === '/projects/:project' ? 'Home' : entry.title}
      </a>
    </li>
  );
}
