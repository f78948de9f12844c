/** Making a token. It is shown this once. */
import type { TokenWithSecret } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Fields, number, text, words } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { SecretOnce } from '../../components/masked-secret.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, navigate } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';
import { PowerFields, powersIn } from '../people/power-fields.tsx';

const NAME = {
  name: text('Name', { placeholder: 'deploy', hint: 'What uses it: the audit trail calls it so.' }),
};
const VAULTS = {
  environments: words('Environments of vaults', {
    placeholder: 'staging, preview',
    hint: 'Of vaults it knows these alone, production neither unless it stands here. Empty: all.',
  }),
};
const EXPIRY = {
  expires_in_days: number('Days until it expires', { placeholder: '90', hint: 'At most 366. Empty: 90.' }),
};

export default function NewTokenPage() {
  const { shown: made, show } = useRevealed<TokenWithSecret>(null);
  const create = async (entered: Entered): Promise<void> => {
    const { environments } = entered.read(VAULTS);
    const body = {
      ...entered.given({ ...NAME, ...EXPIRY }),
      ...powersIn(entered),
      ...(environments.length > 0 ? { environments } : {}),
    };
    show(await call('POST /tokens', { body }));
  };
  return (
    <>
      <PageHeader
        title={made ? `Token ${made.name}` : 'New token'}
        back={{ href: hrefOf('/tokens'), label: 'Tokens' }}
      />
      <Panel>
        {made ? (
          <div class="stack">
            <SecretOnce secret={made.token}>
              The token is made and shown this once. Give it to the tool now, which sends it as Authorization:
              Bearer.
            </SecretOnce>
            <p class="muted">
              It expires <Time at={made.expires_at} />.
            </p>
            <div>
              <ButtonLink kind="primary" href={hrefOf('/tokens')}>
                Done
              </ButtonLink>
            </div>
          </div>
        ) : (
          <Form submit="Create the token" onSubmit={create} onCancel={() => navigate('/tokens')}>
            <Fields fields={NAME} is_focused />
            <PowerFields>
              <Fields fields={EXPIRY} />
              <Fields fields={VAULTS} />
            </PowerFields>
          </Form>
        )}
      </Panel>
    </>
  );
}
