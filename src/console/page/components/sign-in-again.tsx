/** Over what is shown, where the session ended meanwhile: whoever signs in again goes on, with the title and the focus of before. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { person, resumeSession } from '../session.ts';
import { SignIn } from './sign-in.tsx';

export function SignInAgain() {
  const [before] = useState(() => ({ title: document.title, focus: document.activeElement }));
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    // Modal, as a dialog that is open in what is out of sight would let nothing else be used.
    dialog.current?.showModal();
    return () => {
      document.title = before.title;
      // What was out of sight takes no focus before it is shown again.
      requestAnimationFrame(() => before.focus instanceof HTMLElement && before.focus.focus());
    };
  }, [before]);
  return (
    <dialog
      class="over-all"
      ref={dialog}
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
    >
      <SignIn
        title="Sign in again"
        lead="Your session has ended. What you were doing is kept."
        email={person.value?.email}
        onDone={resumeSession}
      />
    </dialog>
  );
}
