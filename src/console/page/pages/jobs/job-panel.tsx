/** What is known of a job. */
import type { Job } from '../../api.generated.ts';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';

export function JobPanel({ of }: { of: Job }) {
  return (
    <>
      {of.error !== null && (
        <div class="notice bad">
          <p>
            <strong>{of.status === 'failed' ? 'It failed:' : 'An attempt failed:'}</strong>{' '}
            <span class="said">{of.error}</span>
          </p>
        </div>
      )}
      <Panel>
        <Facts
          of={[
            ['Kind', <code key="type">{of.type}</code>],
            ['State', <Status key="status" of={of.status} />],
            ['Attempts', <Count key="attempts" of={of.attempts} />],
            ['Queued', <Time key="queued" at={of.queued_at} exact />],
            ['Started', <Time key="started" at={of.started_at} exact />],
            ['Finished', <Time key="finished" at={of.finished_at} exact />],
          ]}
        />
      </Panel>
      {of.result && (
        <Panel title="Result">
          <pre class="data">{JSON.stringify(of.result, null, 2)}</pre>
        </Panel>
      )}
    </>
  );
}
