/** A person's access: a new link, being let in at all, and its end. */
import { useState } from 'preact/hooks';
import type { Person, PersonMade } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { CheckField } from '../../components/fields.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';
import { besideSend, LinkOf, SendField, useCanMail } from './one-time-link.tsx';

interface AccessProps {
  of: Person;
  etag: string | null;
  onChange(): void;
}

export function Access(props: AccessProps) {
  const { of } = props;
  return (
    <div class="stack">
      <Panel title="Signing in">
        <Facts
          of={[
            ['Last signed in', <Time key="at" at={of.last_sign_in_at} />],
            [
              'Second step',
              <Status key="on" of={of.totp ? 'on' : 'off'} tone={of.totp ? 'good' : 'neutral'} />,
            ],
            [
              'Single sign-on',
              <Status key="sso" of={of.sso ? 'on' : 'off'} tone={of.sso ? 'good' : 'neutral'} />,
            ],
            ['Passkeys', of.passkeys],
            ['Added', <Time key="added" at={of.created_at} />],
          ]}
        />
      </Panel>
      <Reset {...props} />
      <Activity {...props} />
      <Removal {...props} />
    </div>
  );
}

function Reset({ of, onChange }: AccessProps) {
  const { shown: made, show } = useRevealed<PersonMade>(null);
  const [ends_totp, setEndsTotp] = useState(false);
  const can_mail = useCanMail();
  const [chosen, setSent] = useState<boolean | null>(null);
  const reset = async (): Promise<void> => {
    const body = { totp: ends_totp, send: chosen ?? can_mail };
    show(await besideSend(call('POST /people/{person}/reset', { path: { person: of.id }, body })));
    onChange();
  };
  return (
    <Panel
      title="Reset the password"
      lead="For somebody who forgot it, lost their second step, or never used their link: they get a new one."
    >
      <div class="stack">
        {made && <LinkOf made={made} />}
        <div>
          <ConfirmByName title="Reset the password" name={of.email} act={reset}>
            <div class="stack">
              <p>
                Their password stops, they are signed out everywhere, and an older link is void.
                {of.passkeys > 0 && ' Their passkeys are removed.'}
                {of.sso &&
                  ' Their account of single sign-on is forgotten: the next one with their address is theirs.'}
              </p>
              <SendField onChange={setSent} />
              {of.totp && (
                <CheckField
                  name="totp"
                  label="Turn their second step off, too"
                  hint="For who lost the telephone and the recovery codes."
                  onChange={setEndsTotp}
                />
              )}
            </div>
          </ConfirmByName>
        </div>
      </div>
    </Panel>
  );
}

const END_TOKENS = 'End the tokens that they made, too';
const END_TOKENS_HINT = 'And those that these made. Tools that use one are refused at once.';

/** Words about the tokens of somebody who goes. */
const tokensOf = (tokens = 0): string => (tokens > 0 ? `; of their tokens ${tokens} stay good` : '');

function Activity({ of, etag, onChange }: AccessProps) {
  const [ends_tokens, setEndsTokens] = useState(false);
  const turn = async (): Promise<void> => {
    const { tokens } = await call('PATCH /people/{person}', {
      path: { person: of.id },
      if_match: etag,
      body: of.is_active ? { is_active: false, revoke_tokens: ends_tokens } : { is_active: true },
    });
    toast(
      of.is_active
        ? `${of.name} is signed out and kept out${tokensOf(tokens)}`
        : `${of.name} may sign in again`,
    );
    onChange();
  };
  return (
    <Panel
      title={of.is_active ? 'Keep them out' : 'Let them in again'}
      lead={
        of.is_active
          ? 'They are signed out everywhere, their link is void, and they cannot sign in until they are let in again. Nothing is lost.'
          : 'They cannot sign in at the moment. Let in again, they do so as before.'
      }
    >
      <div class="stack">
        {of.is_active && (
          <CheckField
            name="revoke_tokens"
            label={END_TOKENS}
            hint={END_TOKENS_HINT}
            onChange={setEndsTokens}
          />
        )}
        <div>
          <ActionButton act={turn}>{of.is_active ? 'Deactivate' : 'Activate'}</ActionButton>
        </div>
      </div>
    </Panel>
  );
}

function Removal({ of }: AccessProps) {
  const [ends_tokens, setEndsTokens] = useState(false);
  const remove = async (): Promise<void> => {
    const { cascade, tokens } = await call('DELETE /people/{person}', {
      path: { person: of.id },
      body: { revoke_tokens: ends_tokens },
    });
    toast(`${of.name} is removed, and with them ${counted(cascade.sessions, 'session')}${tokensOf(tokens)}`);
    navigate('/people', { replace: true });
  };
  return (
    <Panel title="Remove the person" tone="danger" lead="They cannot be brought back, but be added anew.">
      <ConfirmByName title="Remove the person" name={of.email} act={remove}>
        <div class="stack">
          <p>
            Their password, second step and sessions go at once. What they did stays on record, and keys that
            they made stay good.
          </p>
          <CheckField
            name="revoke_tokens"
            label={END_TOKENS}
            hint={END_TOKENS_HINT}
            onChange={setEndsTokens}
          />
        </div>
      </ConfirmByName>
    </Panel>
  );
}
