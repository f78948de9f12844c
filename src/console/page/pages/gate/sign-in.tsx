/** Signing in, and back to where one was. */
import { SignIn } from '../../components/sign-in.tsx';
import { BASE, hrefOf, navigate, useQuery } from '../../router.ts';
import { loadSession } from '../../session.ts';

/** Of what the address says, only a path of the console is gone to. */
function nextOf(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  const { pathname } = new URL(hrefOf(next), location.origin);
  return /^\/(?![/\\])/.test(next) && `${pathname}/`.startsWith(`${BASE}/`) ? next : '/';
}

export default function SignInPage() {
  const query = useQuery();
  const goOn = async (): Promise<void> => {
    await loadSession();
    navigate(nextOf(query), { replace: true });
  };
  return <SignIn title="Sign in to Satchel" onDone={goOn} />;
}
