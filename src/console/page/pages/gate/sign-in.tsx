/** Signing in, and back to where one was. */
import { SignIn } from '../../components/sign-in.tsx';
import { BASE, hrefOf, navigate, useQuery } from '../../router.ts';
import { leaveFrom, loadSession } from '../../session.ts';

/** Of what the address says, only a path of the console is gone to. */
function nextOf(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  const { pathname } = new URL(hrefOf(next), location.origin);
  return /^\/(?![/\\])/.test(next) && `${pathname}/`.startsWith(`${BASE}/`) ? next : '/';
}

/** Why single sign-on let nobody in, by the word behind `?sso=`. */
const REFUSALS: Readonly<Record<string, string>> = {
  refused: 'You are known there, but not here: somebody who may administer has to add you first.',
  failed:
    'That did not work. Try again, and if it fails again ask whoever runs this server: the audit trail has the reason.',
  away: 'Single sign-on does not answer at the moment. Try again in a while.',
};

export default function SignInPage() {
  const query = useQuery();
  const goOn = async (): Promise<void> => {
    await loadSession();
    navigate(nextOf(query), { replace: true });
  };
  return (
    <SignIn
      title="Sign in to Satchel"
      refusal={REFUSALS[query.get('sso') ?? '']}
      onLeave={() => leaveFrom(nextOf(query))}
      onDone={goOn}
    />
  );
}
