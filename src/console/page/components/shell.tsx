/** Surrounds every page: navigation at the side (a drawer where it is narrow), search and account above. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProjectWithKeys, SignedIn } from '../api.generated.ts';
import { may } from '../capabilities.ts';
import { hrefOf, usePath } from '../router.ts';
import { chooseTheme, type Theme, theme } from '../theme.ts';
import { useLoad } from '../use-load.ts';
import { ButtonLink } from './button-link.tsx';
import { leave } from './commands.ts';
import { Icon } from './icon.tsx';
import { KeysHelp } from './keys-help.tsx';
import { findPage, PageView } from './page-view.tsx';
import { Search } from './search.tsx';
import { Sidebar } from './sidebar.tsx';
import { useMenu } from './use-menu.ts';

/** The project that is looked at; null until it is known. */
function useProject(ref: string | null): ProjectWithKeys | null {
  const { data } = useLoad('GET /projects/{project}', ref === null ? null : { path: { project: ref } }, {
    looks_again: true,
  });
  const names = data ? [data.slug, data.public_id, String(data.id)] : [];
  return ref !== null && names.includes(ref) ? data : null;
}

export function Shell({ person }: { person: SignedIn }) {
  const path = usePath();
  const project = findPage(path)?.params.project ?? null;
  const known = useProject(project);
  // Whatever was chosen in the drawer, it has done its part: it is open at the page where it was opened only.
  const [opened_at, setOpenedAt] = useState<string | null>(null);
  const is_open = opened_at === path;
  const close = (): void => setOpenedAt(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!is_open) return;
    const closeOnEscape = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
    };
    const narrow = matchMedia('(width <= 860px)');
    addEventListener('keydown', closeOnEscape);
    narrow.addEventListener('change', close);
    document.querySelector<HTMLElement>('#navigation a')?.focus();
    return () => {
      removeEventListener('keydown', closeOnEscape);
      narrow.removeEventListener('change', close);
      // The focus goes back, but where what was chosen has it already.
      if (!document.activeElement?.closest('main')) opener.current?.focus();
    };
  }, [is_open]);
  return (
    <div class={`shell${is_open ? ' drawer-open' : ''}`}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar project={project} known={known} path={path} />
      {is_open && <button type="button" class="scrim" aria-label="Close the navigation" onClick={close} />}
      <div class="body" inert={is_open}>
        <header class="topbar">
          <button
            type="button"
            ref={opener}
            class="button quiet square drawer-button"
            aria-label="Navigation"
            aria-expanded={is_open}
            aria-controls="navigation"
            onClick={() => setOpenedAt(path)}
          >
            <Icon name="menu" size={18} />
          </button>
          <KeysHelp />
          <Search person={person} project={project} />
          <div class="spacer" />
          <ThemeToggle />
          <AccountMenu person={person} />
        </header>
        <main id="main" tabIndex={-1}>
          <ReadOnlyNote person={person} />
          <CapturedNote project={known} />
          <PageView />
        </main>
      </div>
    </div>
  );
}

/** Says on each page of a project that its mail goes nowhere, for as long as it does. */
function CapturedNote({ project }: { project: ProjectWithKeys | null }) {
  const path = usePath();
  if (project?.mail !== 'captured') return null;
  return (
    <div class="notice warn above" role="status">
      <p>
        <strong>Mail of this project is kept here, and sent to nobody.</strong>
        {!may('can_administer') && ' Whoever runs this Satchel can set up sending.'}
      </p>
      <ButtonLink is_small href={hrefOf(`/set-up-sending?next=${encodeURIComponent(path)}`)}>
        Set up sending
      </ButtonLink>
    </div>
  );
}

/** Tells whoever is read-only so, once. */
function ReadOnlyNote({ person }: { person: SignedIn }) {
  const name = `satchel.read-only-told.${person.id}`;
  const [is_told, setTold] = useState(() => localStorage.getItem(name) !== null);
  if (!person.read_only || is_told) return null;
  const close = (): void => {
    localStorage.setItem(name, '1');
    setTold(true);
  };
  return (
    <div class="notice above" role="status">
      <p>
        <strong>You may look, and change nothing.</strong> So there are no buttons that add, change or send.
        Whoever runs this Satchel can let you do more.
      </p>
      <button type="button" class="button small" onClick={close}>
        Understood
      </button>
    </div>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const;
const NAMES = { system: "the system's", light: 'light', dark: 'dark' } as const;

function ThemeToggle() {
  const now = theme.value;
  const label = `Colours: ${NAMES[now]}. Change to ${NAMES[NEXT[now]]}`;
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(NEXT[now])}
    >
      <Icon name={ICONS[now]} size={18} />
    </button>
  );
}

/** Names who is signed in, and has the way out. */
function AccountMenu({ person }: { person: SignedIn }) {
  const menu = useMenu();
  const name = person.name || person.email;
  return (
    <details class="menu" ref={menu}>
      <summary aria-label={`Account of ${name}`}>
        <span class="avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
      </summary>
      <div class="menu-panel">
        <p class="menu-head">
          <strong>{name}</strong>
          <span class="muted">{person.email}</span>
          {person.read_only && <span class="muted">Read-only</span>}
        </p>
        {findPage('/account') && <a href={hrefOf('/account')}>Account and security</a>}
        <a href="/docs" target="_blank" rel="noreferrer">
          API documentation
        </a>
        <button type="button" onClick={leave}>
          Sign out
        </button>
      </div>
    </details>
  );
}
