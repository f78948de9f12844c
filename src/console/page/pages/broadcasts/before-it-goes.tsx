/** A draft, or one that is scheduled: its mail, who would get it and what is missing, and sending it. */
import { type Answer, call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Loaded, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { useLoad } from '../../use-load.ts';
import { Mail } from './mail.tsx';
import type { BroadcastPartProps } from './part.tsx';
import { Problems } from './problems.tsx';
import { LeftOutFacts } from './recipients.tsx';
import { Send } from './send.tsx';

export type Check = Answer<'GET /projects/{project}/email-broadcasts/{broadcast}/check'>;

export function BeforeItGoes(props: BroadcastPartProps) {
  const { path, of } = props;
  const check = useLoad('GET /projects/{project}/email-broadcasts/{broadcast}/check', { path });
  return (
    <>
      {of.status === 'scheduled' && <Scheduled {...props} />}
      <Mail {...props} />
      <Panel
        title="Who would get it now"
        actions={
          <button type="button" class="button quiet small" onClick={check.reload}>
            Check again
          </button>
        }
      >
        <Loaded load={check}>
          {(found) => (
            <div class="stack" aria-busy={check.is_loading}>
              {found.captured && <p>All mailboxes of its marketing capture: nobody gets its mail.</p>}
              <Audience of={found} />
              {found.warnings.map(({ code, message }) => (
                <p key={code} class="notice">
                  {message}
                </p>
              ))}
              {found.ready ? (
                <p class="notice good">Everything is in place: it can be sent.</p>
              ) : (
                <Problems path={path} of={of} problems={found.problems} />
              )}
            </div>
          )}
        </Loaded>
      </Panel>
      <Panel
        title={of.status === 'scheduled' ? 'Send it earlier or later' : 'Send it'}
        lead="You are asked once more, with the number of people."
      >
        <Send {...props} onRefused={check.reload} />
      </Panel>
    </>
  );
}

function Scheduled({ path, of, onChange }: BroadcastPartProps) {
  const takeBack = async (): Promise<void> => {
    await call('PATCH /projects/{project}/email-broadcasts/{broadcast}', {
      path,
      if_match: null,
      body: { send_at: null },
    });
    onChange();
  };
  return (
    <div class="notice">
      <p>
        <strong>
          It goes out <Time at={of.send_at} exact />
        </strong>{' '}
        (<Time at={of.send_at} />
        ). Template and settings count as they are then.
      </p>
      <p>
        <ActionButton act={takeBack} done="It is a draft again" is_small>
          Make it a draft again
        </ActionButton>
      </p>
    </div>
  );
}

function Audience({ of: { recipients, left_out } }: { of: Check }) {
  return (
    <>
      <p>
        <strong class="reach-number">{counted(recipients, 'person')}</strong>
        {left_out.total > 0 && ` of the list; ${counted(left_out.total, 'other')} would be left out:`}
      </p>
      <LeftOutFacts of={left_out} />
    </>
  );
}
