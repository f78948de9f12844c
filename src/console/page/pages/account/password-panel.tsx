/** Changing one's password. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';

export function PasswordPanel() {
  const [turn, setTurn] = useState(0);
  const change = async (entered: Entered): Promise<void> => {
    await call('POST /console/password', {
      body: { current_password: entered.exact('current_password'), password: entered.exact('password') },
    });
    toast('The password is changed, and your other sessions are ended');
    // A new form is an empty one.
    setTurn(turn + 1);
  };
  return (
    <Panel title="Password" lead="Changing it ends your sessions in other browsers.">
      <Form is_fleeting is_for_readers key={turn} submit="Change the password" onSubmit={change}>
        <TextField
          name="current_password"
          label="Password now"
          type="password"
          autocomplete="current-password"
        />
        <TextField
          name="password"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="At least 12 characters that are hard to guess: four words that have nothing to do with each other, say, and not your name."
        />
      </Form>
    </Panel>
  );
}
