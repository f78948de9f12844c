/** The person's own account: password, second step, and where they are signed in. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Fields, password } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, PageHeader, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { person } from '../../session.ts';
import { useLoad } from '../../use-load.ts';
import { GOOD_PASSWORD } from '../gate/welcome.tsx';
import { PasskeysPanel } from './passkeys-panel.tsx';
import { SecondStepPanel } from './second-step-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export default function AccountPage() {
  const who = person.value;
  const { data: ways } = useLoad('GET /console/ways', {});
  if (!who) return <PageHeader title="Account" />;
  return (
    <>
      <PageHeader
        title="Account"
        lead="Your name, address and rights are changed by somebody who may administer."
      />
      <div class="stack">
        <Panel title="You">
          <Facts
            of={[
              ['Name', who.name],
              ['Email', who.email],
              [
                'Projects',
                who.all_projects ? 'All' : (who.projects ?? []).map(({ name }) => name).join(', ') || 'None',
              ],
              ['May administer', who.can_administer ? 'Yes' : 'No'],
              ['Signed in', <Time key="signed-in" at={who.last_sign_in_at} />],
            ]}
          />
        </Panel>
        <SessionsPanel />
        {ways?.passkey && <PasskeysPanel />}
        {ways?.password !== false && (
          <>
            <PasswordPanel />
            <SecondStepPanel is_on={who.totp} codes_left={who.recovery_codes_left} />
          </>
        )}
      </div>
    </>
  );
}

const FIELDS = {
  current_password: password('Password now', { autocomplete: 'current-password' }),
  password: password('New password', { autocomplete: 'new-password', hint: GOOD_PASSWORD }),
};

function PasswordPanel() {
  const [turn, setTurn] = useState(0);
  const change = async (entered: Entered): Promise<void> => {
    await call('POST /console/password', { body: entered.read(FIELDS) });
    toast('The password is changed, and your other sessions are ended');
    // A new form is an empty one.
    setTurn(turn + 1);
  };
  return (
    <Panel title="Password" lead="Changing it ends your sessions in other browsers.">
      <Form is_fleeting is_for_readers key={turn} submit="Change the password" onSubmit={change}>
        <Fields fields={FIELDS} />
      </Form>
    </Panel>
  );
}
