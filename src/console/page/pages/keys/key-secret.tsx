/** A key's secret: shown on purpose, rotated; and the key refused for a while. */
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { MaskedSecret, SecretOnce } from '../../components/masked-secret.tsx';
import { Panel } from '../../components/page.tsx';
import { person } from '../../session.ts';
import { useRevealed } from '../../use-revealed.ts';
import { type Ability, abilitiesOf } from './abilities.ts';
import type { KeyPartProps } from './detail.tsx';

export function KeySecret({ path, of, onChange }: KeyPartProps) {
  const revealed = useRevealed<string>();
  const made = useRevealed<string>(null);
  const reveal = async (): Promise<void> => {
    const { plaintext_key } = await call('POST /projects/{project}/api-keys/{apiKey}/reveal', { path });
    revealed.show(plaintext_key);
  };
  const rotate = async (): Promise<void> => {
    const { plaintext_key } = await call('POST /projects/{project}/api-keys/{apiKey}/rotate', { path });
    revealed.hide();
    made.show(plaintext_key);
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
        lead="Showing it, for a while, is recorded in the audit trail. Rotating makes a new one, and the old one stops at once."
      >
        <div class="stack">
          {made.shown ? (
            <SecretOnce secret={made.shown}>
              The new secret. Copy it into the environment of the app now.
            </SecretOnce>
          ) : (
            <MaskedSecret label="Secret" {...revealed} {...(mayWrite() && { reveal })} />
          )}
          <div class="row">
            <ConfirmByName title="Rotate the key" name={of.name} act={rotate}>
              <p>Apps that use the old secret are refused until they have the new one.</p>
            </ConfirmByName>
          </div>
        </div>
      </Panel>
      <Panel
        is_for_writing
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

const sendKey = (key: string): string => `-H 'X-API-Key: ${key}'`;

export function curlThatStores(key: string): string {
  return `echo Hello | curl ${location.origin}/api/v1/objects ${sendKey(key)} -F 'file=@-;filename=hello.txt'`;
}

/** To whoever is signed in. */
export function curlThatSends(key: string): string {
  const mail = { to: person.value?.email ?? '', subject: 'Hello', body_text: 'It works.' };
  // A quote would end the shell's.
  const json = JSON.stringify(mail).replaceAll("'", '\\u0027');
  return `curl ${location.origin}/api/v1/emails/send ${sendKey(key)} -H 'Content-Type: application/json' -d '${json}'`;
}

function curlThatLists(key: string): string {
  return `curl ${location.origin}/api/v1/objects ${sendKey(key)}`;
}

const LINES: readonly (readonly [needs: Ability, line: (key: string) => string])[] = [
  ['write', curlThatStores],
  ['upload', curlThatStores],
  ['email', curlThatSends],
  ['read', curlThatLists],
];

/** A command that tries the first of these that the key may do; null where it may none, or only from places that no shell is. */
export function curlThatTries(
  key: Parameters<typeof abilitiesOf>[0] & { restricted: boolean; plaintext_key: string },
): string | null {
  const abilities = abilitiesOf(key);
  const line = key.restricted ? undefined : LINES.find(([needs]) => abilities.includes(needs))?.[1];
  return line?.(key.plaintext_key) ?? null;
}
