/** A key's secret: shown on purpose, rotated; and the key refused for a while. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { Panel } from '../../components/panel.tsx';
import { SecretOnce } from '../../components/secret-once.tsx';
import type { KeyPartProps } from './key-part.ts';

export function KeySecret({ path, of, onChange }: KeyPartProps) {
  const [secret, setSecret] = useState<{ text: string; is_new: boolean } | null>(null);
  const reveal = async (): Promise<void> => {
    const { plaintext_key } = await call('POST /projects/{project}/api-keys/{apiKey}/reveal', { path });
    setSecret({ text: plaintext_key, is_new: false });
  };
  const rotate = async (): Promise<void> => {
    const { plaintext_key } = await call('POST /projects/{project}/api-keys/{apiKey}/rotate', { path });
    setSecret({ text: plaintext_key, is_new: true });
    onChange();
  };
  const turn = async (): Promise<void> => {
    await call('PATCH /projects/{project}/api-keys/{apiKey}', {
      path,
      if_match: null,
      body: { is_active: !of.is_active },
    });
    onChange();
  };
  return (
    <>
      <Panel
        title="Secret"
        lead="Showing it is noted in the audit trail. Rotating makes a new one, and the old one stops at once."
      >
        <div class="stack">
          {secret && (
            <SecretOnce secret={secret.text}>
              {secret.is_new
                ? 'The new secret. Copy it into the environment of the app now.'
                : 'The secret of this key.'}
            </SecretOnce>
          )}
          <div class="row">
            {!secret && <ActionButton act={reveal}>Show the secret</ActionButton>}
            <ConfirmByName title="Rotate the key" name={of.name} act={rotate}>
              <p>Apps that use the old secret are refused until they have the new one.</p>
            </ConfirmByName>
          </div>
        </div>
      </Panel>
      <Panel
        title={of.is_active ? 'Deactivate the key' : 'Activate the key'}
        lead={
          of.is_active
            ? 'It is refused from the next request on, until it is activated again. Nothing is lost.'
            : 'It is refused at the moment. Activated, it is accepted from the next request on.'
        }
      >
        <ActionButton
          act={turn}
          done={of.is_active ? 'The key is refused from now on' : 'The key is accepted again'}
        >
          {of.is_active ? 'Deactivate' : 'Activate'}
        </ActionButton>
      </Panel>
    </>
  );
}
