/** Who is signed in, and the way out. */
import { useEffect, useRef } from 'preact/hooks';
import type { SignedIn } from '../api.generated.ts';
import { hrefOf, usePath } from '../router.ts';
import { signOut } from '../session.ts';
import { findPage } from './page-view.tsx';
import { toast } from './toast.tsx';

export function AccountMenu({ person }: { person: SignedIn }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const path = usePath();
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  // Another page was chosen.
  useEffect(close, [path]);
  useEffect(() => {
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) close();
    };
    const closeOnEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !menu.current?.open) return;
      close();
      menu.current.querySelector('summary')?.focus();
    };
    addEventListener('click', closeOutside);
    addEventListener('keydown', closeOnEscape);
    return () => {
      removeEventListener('click', closeOutside);
      removeEventListener('keydown', closeOnEscape);
    };
  });
  const leave = (): void => {
    signOut().catch((error: Error) => toast(error.message, 'bad'));
  };
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
