/** Who is signed in, and what they may do. */
import { signal } from '@preact/signals';
import { ApiError, onSignedOut, request } from './api.ts';
import { navigate, usePath } from './router.ts';

/** The person as GET /console/session tells them. */
export interface Person {
  id: string;
  email: string;
  name: string;
  can_administer?: boolean;
  can_manage_database: boolean;
  can_read_vault: boolean;
  can_reveal_vault: boolean;
  can_write_vault: boolean;
  can_read_database_tokens: boolean;
  can_read_ai_accounts: boolean;
  all_projects: boolean;
  totp: boolean;
}

/** Undefined until it is known, null where nobody is signed in. */
export const person = signal<Person | null | undefined>(undefined);

export const SIGN_IN = '/sign-in';

/** Asks who is signed in. Without a connection it is asked again once there is one. */
export async function loadSession(): Promise<void> {
  try {
    person.value = (await request('GET', '/console/session')) as Person;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) person.value = null;
  }
}

/** Leads to the sign-in page, which leads back. */
export function askToSignIn(): void {
  person.value = null;
  const here = location.pathname.replace(/^\/console/, '') + location.search;
  if (!here.startsWith(SIGN_IN)) {
    const next = here === '' || here === '/' ? '' : `?next=${encodeURIComponent(here)}`;
    navigate(SIGN_IN + next, { replace: true });
  }
}
onSignedOut.run = askToSignIn;

export async function signOut(): Promise<void> {
  await request('DELETE', '/console/session');
  person.value = null;
  navigate(SIGN_IN, { replace: true });
}

/** Whether a path is for people who are not signed in. */
export function useIsOpenPage(): boolean {
  const path = usePath();
  return path === SIGN_IN || path.startsWith('/welcome/');
}
