/** The key that a domain's mail is signed with, and changing it in steps without a mail that fails its check. */
import type { DkimRotation } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Advanced, Panel } from '../../components/page.tsx';
import { Steps } from '../../components/steps.tsx';
import { Time } from '../../components/time.tsx';
import { serverNow } from '../../time.ts';
import type { DomainPartProps } from './detail.tsx';
import { RecordToPublish } from './record-to-publish.tsx';

export function SigningKey(props: Omit<DomainPartProps, 'etag'> & { verify(): Promise<void> }) {
  const { of, onChange, verify } = props;
  const { dkim_rotation, dkim_selector, name } = of;
  const rotate = async (): Promise<void> => {
    await call('POST /sending-domains/{name}/dkim/rotate', { path: { name } });
    onChange();
  };
  const is_waiting = dkim_rotation?.state === 'waiting';
  return (
    <Panel>
      <Advanced title="Signing key" is_set={dkim_rotation !== null}>
        <div class="stack">
          <p class="muted">
            Mail is signed with the key at{' '}
            <code>
              {dkim_selector}._domainkey.{name}
            </code>
            . Change it once in a while, or when somebody may have read it.
          </p>
          {dkim_rotation && <Rotation of={dkim_rotation} />}
          <div class="row">
            {is_waiting ? (
              <ActionButton kind="primary" act={verify}>
                Look for the new record
              </ActionButton>
            ) : (
              <ActionButton act={rotate} done="A new key is made. Mail is signed with the old one for now">
                Make a new key
              </ActionButton>
            )}
          </div>
        </div>
      </Advanced>
    </Panel>
  );
}

function Rotation({ of }: { of: DkimRotation }) {
  const { state, record, old_name, old_unneeded_from } = of;
  const is_done = state === 'done';
  const is_unneeded = old_unneeded_from !== null && Date.parse(old_unneeded_from) <= serverNow();
  return (
    <Steps
      label="Change of the key"
      of={[
        { title: 'A new key is made', state: 'done' },
        {
          title: 'Publish its record beside the old one',
          state: is_done ? 'done' : 'now',
          body: is_done ? null : <RecordToPublish of={record} />,
        },
        {
          title: is_done
            ? 'Mail is signed with the new key'
            : 'Its record is seen, and mail is signed with it',
          state: is_done ? 'done' : 'later',
          body: is_done ? null : (
            <p class="muted">
              Satchel looks for it at each full hour, and when you ask. Until then the old key signs.
            </p>
          ),
        },
        {
          title: 'Remove the old record',
          state: is_done ? (is_unneeded ? 'now' : 'later') : 'later',
          body: is_done ? (
            <p class="muted">
              <code>{old_name}</code> may go {is_unneeded ? 'now' : <Time at={old_unneeded_from} exact />}:
              mail that was signed with the old key may still be on its way until then.
            </p>
          ) : (
            <p class="muted">Some days later. Until then leave it where it is.</p>
          ),
        },
      ]}
    />
  );
}
