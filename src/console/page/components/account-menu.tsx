/** Who is signed in, and the way out. */
import type { SignedIn } from '../api.generated.ts';
import { hrefOf } from '../router.ts';
import { leave } from './commands.ts';
import { findPage } from './page-view.tsx';
import { useMenu } from './use-menu.ts';

export function AccountMenu({ person }: { person: SignedIn }) {
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
