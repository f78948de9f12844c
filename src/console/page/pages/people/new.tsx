/** Adding a person. The link by which they set their password is shown this once. */

import type { PersonMade } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';
import { besideSend, LinkOf, SendField } from './one-time-link.tsx';
import { PowerFields, powersIn } from './power-fields.tsx';

export default function NewPersonPage() {
  const { shown: made, show } = useRevealed<PersonMade>(null);
  const add = async (entered: Entered): Promise<void> => {
    const name = entered.text('name');
    const send = entered.flag('send');
    const body = { email: entered.text('email'), ...(name && { name }), ...powersIn(entered), send };
    show(await besideSend(call('POST /people', { body })));
  };
  return (
    <>
      <PageHeader
        title={made ? made.name : 'Add a person'}
        back={{ href: hrefOf('/people'), label: 'People' }}
      />
      <Panel>
        {made ? (
          <div class="stack">
            <LinkOf made={made} />
            <div>
              <ButtonLink kind="primary" href={hrefOf(to`/people/${made.id}`)}>
                To the person
              </ButtonLink>
            </div>
          </div>
        ) : (
          <Form submit="Add the person" onSubmit={add} onCancel={() => navigate('/people')}>
            <TextField name="email" label="Address" type="email" hint="They sign in with it." is_focused />
            <TextField name="name" label="Name" hint="As the audit trail calls them. Empty: their address." />
            <PowerFields />
            <SendField />
          </Form>
        )}
      </Panel>
    </>
  );
}
