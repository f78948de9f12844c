/** Signing in: address and password, then the second step where there is one; and back to where one was. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Gate } from '../../components/gate.tsx';
import { TextField } from '../../components/text-field.tsx';
import { navigate, useQuery } from '../../router.ts';
import { loadSession } from '../../session.ts';

interface Credentials {
  email: string;
  password: string;
}

/** Of what the address says, only a path of the console is gone to. */
function nextOf(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}

export default function SignInPage() {
  const query = useQuery();
  const [first_step, setFirstStep] = useState<Credentials | null>(null);
  const signIn = async (credentials: Credentials, code?: string): Promise<void> => {
    await call('POST /console/session', { body: { ...credentials, ...(code && { code }) } });
    await loadSession();
    navigate(nextOf(query), { replace: true });
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
    <Gate title="Sign in to Satchel">
      <Form key="password" submit="Sign in" onSubmit={takePassword}>
        <TextField name="email" label="Email" type="email" autocomplete="username" is_focused />
        <TextField
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          hint="Forgotten? Whoever runs this server makes a new link with: satchel person reset"
        />
      </Form>
    </Gate>
  );
}
