/** The whole: who is signed in, which page is shown, and what is around it. */
import { useEffect } from 'preact/hooks';
import type { SignedIn } from './api.generated.ts';
import { is_connected, reloads } from './api.ts';
import { Questions } from './components/dialog.tsx';
import { PageView } from './components/page-view.tsx';
import { Shell } from './components/shell.tsx';
import { SignInAgain } from './components/sign-in.tsx';
import { Toasts } from './components/toast.tsx';
import { askToSignIn, goBack, is_session_over, loadSession, person, useIsOpenPage } from './session.ts';

export function App() {
  const is_open = useIsOpenPage();
  const who = person.value;
  const epoch = reloads.value;
  // A question that failed is asked again after a reconnection. Whoever signs in is asked nothing else.
  useEffect(() => {
    if (person.value === undefined && !is_open) void loadSession();
  }, [epoch, is_open]);
  useEffect(() => {
    if (who) goBack();
  }, [who?.id]);
  useEffect(() => {
    if (who === null && !is_open) askToSignIn();
  }, [who, is_open]);
  return (
    <>
      {!is_connected.value && <Banner />}
      {is_open ? <PageView /> : who ? <WhileSignedIn person={who} /> : null}
      <Toasts />
    </>
  );
}

/** The frame, which is another one for another person; out of sight while its session is over. */
function WhileSignedIn({ person: who }: { person: SignedIn }) {
  const is_over = is_session_over.value;
  return (
    <>
      <div hidden={is_over}>
        <Shell key={who.id} person={who} />
        <Questions />
      </div>
      {is_over && <SignInAgain />}
    </>
  );
}

/** Says that the server does not answer; it goes away by itself once it does. */
function Banner() {
  return (
    <div class="banner" role="alert">
      Satchel does not answer. What is shown may be old; trying again every two seconds.
    </div>
  );
}
