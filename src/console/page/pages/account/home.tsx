/** The person's own account: password, second step, and where they are signed in. */

import { Facts } from '../../components/facts.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { person } from '../../session.ts';
import { PasswordPanel } from './password-panel.tsx';
import { SecondStepPanel } from './second-step-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export default function AccountPage() {
  const who = person.value;
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
        <PasswordPanel />
        <SecondStepPanel is_on={who.totp} codes_left={who.recovery_codes_left} />
      </div>
    </>
  );
}
