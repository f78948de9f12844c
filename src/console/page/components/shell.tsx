/** What is around every page: navigation at the side (a drawer where it is narrow), search and account above. */
import { useEffect, useState } from 'preact/hooks';
import type { SignedIn } from '../api.generated.ts';
import { usePath } from '../router.ts';
import { AccountMenu } from './account-menu.tsx';
import { Icon } from './icon.tsx';
import { findPage, PageView } from './page-view.tsx';
import { Search } from './search.tsx';
import { Sidebar } from './sidebar.tsx';
import { ThemeToggle } from './theme-toggle.tsx';

export function Shell({ person }: { person: SignedIn }) {
  const path = usePath();
  const project = findPage(path)?.params.project ?? null;
  const [is_open, setOpen] = useState(false);
  // Whatever was chosen in the drawer, it has done its part.
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!is_open) return;
    const close = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setOpen(false);
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [is_open]);
  return (
    <div class={`shell${is_open ? ' drawer-open' : ''}`}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar project={project} person={person} path={path} />
      {is_open && (
        <button
          type="button"
          class="scrim"
          aria-label="Close the navigation"
          onClick={() => setOpen(false)}
        />
      )}
      <div class="body">
        <header class="topbar">
          <button
            type="button"
            class="button quiet square drawer-button"
            aria-label="Navigation"
            aria-expanded={is_open}
            aria-controls="navigation"
            onClick={() => setOpen(!is_open)}
          >
            <Icon name="menu" size={18} />
          </button>
          <Search />
          <div class="spacer" />
          <ThemeToggle />
          <AccountMenu person={person} />
        </header>
        <main id="main" tabIndex={-1}>
          <PageView />
        </main>
      </div>
    </div>
  );
}
