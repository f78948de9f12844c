/** Where a one-time link leads: a password is chosen. The first person of all says who they are, too. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Gate } from '../../components/gate.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { navigate } from '../../router.ts';

export default function WelcomePage({ params }: PageProps<'token'>) {
  // Only the server knows whose link it is: of the first person it asks for the address, too.
  const [is_first, setFirst] = useState(false);
  const [is_void, setVoid] = useState(false);
  const accept = async (entered: Entered): Promise<void> => {
    const name = entered.text('name');
    const who = is_first ? { email: entered.text('email'), ...(name && { name }) } : {};
    try {
      await call('POST /console/welcome/{token}', {
        path: params,
        body: { ...who, password: entered.exact('password') },
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return setVoid(true);
      if (error.errors.email && !is_first) return setFirst(true);
      throw error;
    }
    toast('The password is set: sign in with it');
    navigate('/sign-in', { replace: true });
  };
  if (is_void) {
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
      lead={is_first ? 'You are the first here, and may do everything. Who are you?' : 'Choose a password.'}
    >
      <Form submit="Set the password" onSubmit={accept}>
        {is_first && <TextField name="email" label="Email" type="email" autocomplete="username" is_focused />}
        {is_first && <TextField name="name" label="Name" autocomplete="name" />}
        <TextField
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          hint="At least 12 characters. Several words are easier to keep than signs."
          is_focused={!is_first}
        />
      </Form>
    </Gate>
  );
}
