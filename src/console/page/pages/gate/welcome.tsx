/** The page of a one-time link, where one chooses a password. The first person of all says who they are, too. */
import { ApiError, call } from '../../api.ts';
import { Fields, optional, password, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Empty, Loaded } from '../../components/page.tsx';
import { Gate } from '../../components/sign-in.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { loadSession } from '../../session.ts';
import { useLoad } from '../../use-load.ts';

/** Advice for a new password. */
export const GOOD_PASSWORD =
  'At least 12 characters that are hard to guess: four words that have nothing to do with each other, say, and not your name.';

const WHO = {
  email: text('Email', { type: 'email', autocomplete: 'username' }),
  name: optional('Name', { autocomplete: 'name' }),
};
const PASSWORD = { password: password('Password', { autocomplete: 'new-password', hint: GOOD_PASSWORD }) };

/** Whoever has just set a password is not asked for it again. */
async function goIn(email: string, password: string): Promise<void> {
  try {
    await call('POST /console/session', { body: { email, password } });
    await loadSession();
    navigate('/', { replace: true });
  } catch {
    // A second step that they had before is asked for there.
    toast('The password is set: sign in with it');
    navigate('/sign-in', { replace: true });
  }
}

export default function WelcomePage({ params }: PageProps<'token'>) {
  const load = useLoad('GET /console/welcome/{token}/person', { path: params });
  const email = load.data?.email ?? null;
  const is_first = load.data !== null && email === null;
  const accept = async (entered: Entered): Promise<void> => {
    const { password: chosen } = entered.read(PASSWORD);
    try {
      await call('POST /console/welcome/{token}', {
        path: params,
        body: { ...(is_first && entered.given(WHO)), password: chosen },
      });
    } catch (error) {
      // Used or replaced since the page was opened.
      if (error instanceof ApiError && error.status === 404) return load.reload();
      throw error;
    }
    await goIn(email ?? entered.text('email'), chosen);
  };
  if (load.error?.status === 404) {
    return (
      <Gate title="This link is no longer good">
        <Empty title="A link is good once, for 24 hours" command="satchel person reset EMAIL">
          <p>Whoever runs this server makes a new one.</p>
        </Empty>
      </Gate>
    );
  }
  return (
    <Gate
      title="Welcome to Satchel"
      lead={
        is_first
          ? 'You are the first here, and may do everything. Who are you?'
          : `Choose a password${email === null ? '' : ` for ${email}`}.`
      }
    >
      <Loaded load={load}>
        {() => (
          <Form is_fleeting is_for_readers submit="Set the password" onSubmit={accept}>
            <Fields fields={{ ...(is_first && WHO), ...PASSWORD }} is_focused />
          </Form>
        )}
      </Loaded>
    </Gate>
  );
}
