/** The person who is signed in, with their capabilities. */
import { signal } from '@preact/signals';
import type { SignedIn } from './api.generated.ts';
import { ApiError, call, onRefusal, reloadAll } from './api.ts';
import { forgetPlaces } from './places.ts';
import { navigate, usePath } from './router.ts';

/** Undefined until it is known, null where nobody is signed in. */
export const person = signal<SignedIn | null | undefined>(undefined);

const SIGN_IN = '/sign-in';

/**
 * Whether the session ended under what is shown. It is kept, out of sight, with all that stands in its forms, until somebody signs
 * in: the same person goes on where they were.
 */
export const is_session_over = signal(false);
let waiting: PromiseWithResolvers<boolean> | null = null;

/** Asks who is signed in. Without a connection it is asked again once there is one. */
export async function loadSession(): Promise<void> {
  try {
    person.value = await call('GET /console/session', {});
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) person.value = null;
  }
}

onRefusal.signedOut = async () => {
  if (!person.value) return false;
  is_session_over.value = true;
  waiting ??= Promise.withResolvers();
  return waiting.promise;
};

onRefusal.forbidden = () => {
  void loadSession();
};

/** Somebody has signed in again, over what is shown. */
export async function resumeSession(): Promise<void> {
  const before = person.value?.id;
  await loadSession();
  is_session_over.value = false;
  waiting?.resolve(person.value?.id === before);
  waiting = null;
  reloadAll();
}

/** Leads to the sign-in page, which leads back. */
export function askToSignIn(): void {
  const here = location.pathname.replace(/^\/console/, '') + location.search;
  if (!isOpen(location.pathname.replace(/^\/console/, ''))) {
    const is_refused = new URLSearchParams(location.search).has('sso');
    const next = here === '' || here === '/' ? '' : `?next=${encodeURIComponent(here)}`;
    // The issuer's way back that let nobody in says why.
    navigate(SIGN_IN + (is_refused ? location.search : next), { replace: true });
  }
}

const LEFT_FROM = 'satchel.left-from';

/** Keeps where to go on: from the issuer everybody comes back to the beginning. */
export function leaveFrom(place: string): void {
  sessionStorage.setItem(LEFT_FROM, place);
}

/** Leads whoever has just signed in from the beginning to where they left from. */
export function goBack(): void {
  const place = sessionStorage.getItem(LEFT_FROM);
  sessionStorage.removeItem(LEFT_FROM);
  if (place !== null && /^\/console\/?$/.test(location.pathname)) navigate(place, { replace: true });
}

export async function signOut(): Promise<void> {
  await call('DELETE /console/session', {}).catch((error: unknown) => {
    // Whoever is signed out already is where they want to be.
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  if (person.value) forgetPlaces(person.value.id);
  person.value = null;
  navigate(SIGN_IN, { replace: true });
}

function isOpen(path: string): boolean {
  return path === SIGN_IN || path.startsWith('/welcome/');
}

/** Says whether the page is for people who are not signed in. */
export function useIsOpenPage(): boolean {
  return isOpen(usePath());
}
