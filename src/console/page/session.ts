/** Who is signed in, and what they may do. */
import { signal } from '@preact/signals';
import type { SignedIn } from './api.generated.ts';
import { ApiError, call, onSignedOut } from './api.ts';
import { navigate, usePath } from './router.ts';

/** Undefined until it is known, null where nobody is signed in. */
export const person = signal<SignedIn | null | undefined>(undefined);

export const SIGN_IN = '/sign-in';

/** Asks who is signed in. Without a connection it is asked again once there is one. */
export async function loadSession(): Promise<void> {
  try {
    person.value = await call('GET /console/session', {});
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) person.value = null;
  }
}

/** Leads to the sign-in page, which leads back. */
export function askToSignIn(): void {
  person.value = null;
  const here = location.pathname.replace(/^\/console/, '') + location.search;
  if (!isOpen(location.pathname.replace(/^\/console/, ''))) {
    const next = here === '' || here === '/' ? '' : `?next=${encodeURIComponent(here)}`;
    navigate(SIGN_IN + next, { replace: true });
  }
}
onSignedOut.run = askToSignIn;

export async function signOut(): Promise<void> {
  await call('DELETE /console/session', {});
  person.value = null;
  navigate(SIGN_IN, { replace: true });
}

function isOpen(path: string): boolean {
  return path === SIGN_IN || path.startsWith('/welcome/');
}

/** Whether the page is for people who are not signed in. */
export function useIsOpenPage(): boolean {
  return isOpen(usePath());
}
