/** Adding a person. The link by which they set their password is shown this once. */
import type { PersonMade } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Fields } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';
import { besideSend, LinkOf, SendField } from './one-time-link.tsx';
import { PowerFields, powersIn, WHO } from './power-fields.tsx';

export default function NewPersonPage() {
  const { shown: made, show } = useRevealed<PersonMade>(null);
  const add = async (entered: Entered): Promise<void> => {
    const send = entered.flag('send');
    const body = { ...entered.given(WHO), ...powersIn(entered), send };
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
            <Fields fields={WHO} is_focused />
            <PowerFields />
            <SendField />
          </Form>
        )}
      </Panel>
    </>
  );
}
