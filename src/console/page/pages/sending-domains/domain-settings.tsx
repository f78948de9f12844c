/** Makes a domain the default, in use and trusted, or not; and ends it. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import type { DomainPartProps } from './detail.tsx';
import { SigningKey } from './signing-key.tsx';

export function DomainSettings(part: DomainPartProps & { verify(): Promise<void> }) {
  const { of } = part;
  return (
    <>
      <Panel title="Use">
        <div class="settings">
          <Setting
            part={part}
            title={of.is_default ? 'It is the default domain' : 'It is not the default domain'}
            told={
              of.is_default
                ? 'Mail that names no domain goes out from it. Make another one the default instead.'
                : 'Mail goes out from it where it says so in its sender.'
            }
            change={of.is_default ? null : { label: 'Make it the default', body: { is_default: true } }}
          />
          <Setting
            part={part}
            title={of.is_active ? 'It is in use' : 'It is not in use'}
            told={
              of.is_active
                ? 'Deactivated, nothing is sent from it until it is activated again.'
                : 'Nothing is sent from it until it is activated again.'
            }
            change={
              of.is_active
                ? { label: 'Deactivate', body: { is_active: false } }
                : { label: 'Activate', body: { is_active: true } }
            }
          />
          <Setting
            part={part}
            title={of.is_trusted ? 'It is trusted' : 'It is not trusted'}
            told={
              of.is_trusted
                ? 'Its mail goes out whether its records are found or not.'
                : 'Its mail goes out once its records are found. Trust it only if you know better than the DNS that this machine sees.'
            }
            change={
              of.is_trusted
                ? { label: 'Stop trusting it', body: { is_trusted: false } }
                : { label: 'Trust it', body: { is_trusted: true } }
            }
          />
        </div>
      </Panel>
      <SigningKey {...part} />
      <DomainEnd of={of} />
    </>
  );
}

interface Change {
  label: string;
  body: { is_default?: boolean; is_active?: boolean; is_trusted?: boolean };
}

function Setting(props: { part: DomainPartProps; title: string; told: string; change: Change | null }) {
  const { part, title, told, change } = props;
  const act = async ({ body }: Change): Promise<void> => {
    const path = { name: part.of.name };
    // After a refusal, too: somebody else may have changed it meanwhile, and that is shown.
    await call('PATCH /sending-domains/{name}', { path, body, if_match: part.etag }).finally(part.onChange);
  };
  return (
    <div class="setting">
      <div>
        <h3>{title}</h3>
        <p class="muted">{told}</p>
      </div>
      {change && <ActionButton act={() => act(change)}>{change.label}</ActionButton>}
    </div>
  );
}

function DomainEnd({ of }: Pick<DomainPartProps, 'of'>) {
  const remove = async (): Promise<void> => {
    const { cascade } = await call('DELETE /sending-domains/{name}', { path: { name: of.name } });
    toast(`${of.name} is removed, and with it ${tellMailboxes(cascade.mailboxes)}`);
    navigate('/sending-domains', { replace: true });
  };
  return (
    <Ending
      title="Remove the domain"
      lead="Added again, it gets another key and other records."
      name={of.name}
      act={remove}
    >
      With it go its DKIM key and {tellMailboxes(of.mailboxes)}.{' '}
      {of.waiting_emails > 0 &&
        `${counted(of.waiting_emails, 'mail')} that wait for them must find another mailbox, or fail.`}
    </Ending>
  );
}

function tellMailboxes(count: number): string {
  return count === 1 ? '1 mailbox' : `${count} mailboxes`;
}
