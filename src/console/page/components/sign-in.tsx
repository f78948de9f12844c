/** Address and password, then the second step where there is one: the one form of the page and of `SignInAgain`. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, call } from '../api.ts';
import { BASE } from '../router.ts';
import { person, resumeSession } from '../session.ts';
import { useLoad } from '../use-load.ts';
import { canOffer, endOffer, signInByPasskey } from '../webauthn.ts';
import { ActionButton } from './action-button.tsx';
import { type Entered, Form } from './form.tsx';
import { PageHeader } from './page.tsx';
import { tellError } from './refusal.ts';
import { TextField } from './text-field.tsx';
import { toast } from './toast.tsx';

interface Credentials {
  email: string;
  password: string;
}

export function SignIn(props: {
  title: string;
  lead?: string;
  email?: string;
  /** Why single sign-on let nobody in. */
  refusal?: string | undefined;
  /** The way to the issuer opens in a tab of its own, as what is shown has to stay. */
  is_over?: boolean;
  /** Called as somebody leaves for the issuer. */
  onLeave?: () => void;
  onDone(): Promise<void>;
}) {
  const { data: ways } = useLoad('GET /console/ways', {});
  const [first_step, setFirstStep] = useState<Credentials | null>(null);
  const passkey = usePasskeys(ways?.passkey === true, props.onDone);
  const signIn = async (credentials: Credentials, code?: string): Promise<void> => {
    await call('POST /console/session', { body: { ...credentials, ...(code && { code }) } });
    await props.onDone();
  };
  const takePassword = async (entered: Entered): Promise<void> => {
    const credentials = { email: entered.text('email'), password: entered.exact('password') };
    try {
      await signIn(credentials);
    } catch (error) {
      if (!(error instanceof ApiError) || error.details.second_step !== true) throw error;
      setFirstStep(credentials);
    }
  };
  if (first_step) {
    return (
      <Gate title="Second step" lead="The code that your authenticator shows now, or a recovery code.">
        <Form
          is_fleeting
          is_for_readers
          key="code"
          submit="Sign in"
          onSubmit={(entered) => signIn(first_step, entered.text('code'))}
          onCancel={() => setFirstStep(null)}
        >
          <TextField name="code" label="Code" autocomplete="one-time-code" is_focused is_mono />
        </Form>
      </Gate>
    );
  }
  return (
    <Gate title={props.title} lead={props.lead}>
      {props.refusal && (
        <div class="error-box" role="alert">
          <p>{props.refusal}</p>
        </div>
      )}
      {/* Until it is known, the form: nearly everywhere it is open. */}
      {ways?.password !== false && (
        <Form is_fleeting is_for_readers key="password" submit="Sign in" onSubmit={takePassword}>
          <TextField
            name="email"
            label="Email"
            type="email"
            autocomplete="username webauthn"
            value={props.email}
            is_focused={!props.email}
          />
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            is_focused={props.email !== undefined}
            hint="Forgotten? Whoever runs this server makes a new link with: satchel person reset"
          />
        </Form>
      )}
      {ways?.passkey && 'PublicKeyCredential' in window && (
        <ActionButton is_for_readers act={passkey}>
          Sign in with a passkey
        </ActionButton>
      )}
      {ways?.sso && (
        <a
          class={`button sso${ways.password ? '' : ' primary'}`}
          href={`${BASE}/oidc/start`}
          // With any target the router leaves it to the browser.
          target={props.is_over ? '_blank' : '_self'}
          onClick={props.onLeave}
        >
          {ways.sso.label}
          {props.is_over && <span class="hidden"> (in a new tab)</span>}
        </a>
      )}
    </Gate>
  );
}

/** Less than a challenge lives: the offer of the address field is made anew. */
const OFFER_MS = 4 * 60_000;

/** Has the address field offer passkeys, and returns what asks for one. */
function usePasskeys(is_open: boolean, onDone: () => Promise<void>): () => Promise<void> {
  const [is_asking, setAsking] = useState(false);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    if (!is_open || is_asking || !('PublicKeyCredential' in window)) return;
    let is_wanted = true;
    const offer = async (): Promise<void> => {
      if ((await canOffer()) && (await signInByPasskey(true, () => is_wanted))) await done.current();
    };
    const tell = (error: unknown): void => toast(tellError(error), 'bad');
    void offer().catch(tell);
    const timer = setInterval(() => void offer().catch(tell), OFFER_MS);
    return () => {
      is_wanted = false;
      clearInterval(timer);
    };
  }, [is_open, is_asking]);
  useEffect(() => endOffer, []);
  return async () => {
    setAsking(true);
    try {
      if (await signInByPasskey(false)) await onDone();
    } finally {
      setAsking(false);
    }
  };
}

/** A page for people who are not signed in: one card in the middle. */
export function Gate({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="gate">
      <main>
        <div class="panel gate-card">
          <span class="brand-mark" aria-hidden="true" />
          <PageHeader title={title} lead={lead} />
          {children}
        </div>
      </main>
    </div>
  );
}

/** Over what is shown, where the session ended meanwhile: whoever signs in again goes on, with the title and the focus of before. */
export function SignInAgain() {
  const [before] = useState(() => ({ title: document.title, focus: document.activeElement }));
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    // Modal, as a dialog that is open in what is out of sight would let nothing else be used.
    dialog.current?.showModal();
    return () => {
      document.title = before.title;
      // A hidden element takes no focus before it is shown again.
      requestAnimationFrame(() => before.focus instanceof HTMLElement && before.focus.focus());
    };
  }, [before]);
  // Whoever comes back from the tab of the issuer may be signed in there. Not by `call`, which would wait for that.
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      fetch(`${BASE}/session`, { headers: { 'X-Satchel-Console': '1' } }).then(
        ({ ok }) => (ok ? resumeSession() : undefined),
        () => {},
      );
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
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
        is_over
        onDone={resumeSession}
      />
    </dialog>
  );
}
