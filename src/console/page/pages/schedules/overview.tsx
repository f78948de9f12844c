/** The next runs of a schedule, and its settings. */
import type { ComponentChildren } from 'preact';
import type { ScheduleWithRuns } from '../../api.generated.ts';
import { Facts, Panel } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { tellCadence } from './cadence.ts';

export function NextRuns({ of }: { of: ScheduleWithRuns }) {
  const { next_runs, timezone, is_active } = of;
  return (
    <Panel title="Next runs" lead={`As the clocks of ${timezone} show it.`}>
      {next_runs.length === 0 ? (
        <p class="muted">{is_active ? 'It runs no more.' : 'None while it is paused.'}</p>
      ) : (
        <RunList timezone={timezone} runs={next_runs} />
      )}
    </Panel>
  );
}

/** Moments as the clocks of a zone show them, each with how far it is from now. */
export function RunList({ timezone, runs }: { timezone: string; runs: readonly string[] }) {
  return (
    <ol class="runs">
      {runs.map((at) => (
        <li key={at}>
          <span>{tellIn(timezone, at)}</span>
          <span class="muted">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/** A zone that this browser does not know is told in UTC, with its name. */
function tellIn(timeZone: string, at: string): string {
  const options = { dateStyle: 'full', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(Date.parse(at));
  } catch {
    return `${new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(Date.parse(at))} UTC`;
  }
}

export function ScheduleFacts({ project, of }: { project: string; of: ScheduleWithRuns }) {
  const { template, variables, last_status } = of;
  const facts: (readonly [string, ComponentChildren])[] = [
    ['When', tellCadence(of.cron_expression) ?? <code key="cron">{of.cron_expression}</code>],
    [
      'Last run',
      last_status && (
        <span key="last" class="row">
          <Time at={of.last_run_at} /> <Status of={last_status} />
        </span>
      ),
    ],
    ['Template', template && <a href={hrefOf(to`/projects/${project}/templates/${template}`)}>{template}</a>],
    ...Object.entries(variables).map(
      ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    ),
    ['Subject', of.subject],
    [
      'To',
      <ul key="to">
        {of.recipients.map(({ email, name }) => (
          <li key={email}>{name ? `${name} <${email}>` : email}</li>
        ))}
      </ul>,
    ],
    ['Cc', of.cc.join(', ')],
    ['Bcc', of.bcc.join(', ')],
    ['Reply to', of.reply_to],
    ['Sender', of.from_name],
    ['Domain', of.domain],
    [
      'After a downtime',
      of.missed_runs === 'skip' ? 'Missed runs are left out' : 'Missed runs are made up for, once',
    ],
    ['Id', <code key="id">{of.id}</code>],
  ];
  return (
    <Panel title="About">
      <Facts of={facts.filter(([, value]) => value)} />
    </Panel>
  );
}
