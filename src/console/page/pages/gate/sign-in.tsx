/** Signing in, and back to where one was. */
import { SignIn } from '../../components/sign-in.tsx';
import { navigate, useQuery } from '../../router.ts';
import { loadSession } from '../../session.ts';

/** Of what the address says, only a path of the console is gone to. */
function nextOf(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}

export default function SignInPage() {
  const query = useQuery();
  const goOn = async (): Promise<void> => {
    await loadSession();
    navigate(nextOf(query), { replace: true });
  };
  return <SignIn title="Sign in to Satchel" onDone={goOn} />;
}
