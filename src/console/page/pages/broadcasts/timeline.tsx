/** Times when a broadcast was sent, clicked and opened: by the hour for two days, then by the day. */
import type { Answer } from '../../api.ts';
import { Bars } from '../../components/bars.tsx';
import { Loaded, Panel } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { useLoad } from '../../use-load.ts';
import type { BroadcastPartProps } from './part.tsx';

type Point = Answer<'GET /projects/{project}/email-broadcasts/{broadcast}/timeline'>['timeline'][number];

const REFRESH_MS = 10_000;
const REFRESH_ENDED_MS = 60_000;
const HOURS = 24;
const HOUR_MS = 3_600_000;
const hour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
// Days of the API begin in UTC.
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function Timeline({ path, of }: BroadcastPartProps) {
  const load = useLoad(
    'GET /projects/{project}/email-broadcasts/{broadcast}/timeline',
    { path },
    { every_ms: ['sending', 'testing'].includes(of.status) ? REFRESH_MS : REFRESH_ENDED_MS },
  );
  return (
    <Panel title="When" lead="By the hour for two days, then, shaded, by the day.">
      <Loaded load={load}>
        {({ timeline }) =>
          timeline.length === 0 ? (
            <p class="muted">Nothing has happened yet.</p>
          ) : (
            <Drawn of={timeline} has_opens={of.track_opens} />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Empty bars for the hours to come of the first day, so that the others stand where they will stay. */
function comingAfter(of: readonly Point[]): Point[] {
  const last = of.at(-1);
  if (!last) return [];
  return Array.from({ length: Math.max(0, HOURS - of.length) }, (_, index) => ({
    at: new Date(Date.parse(last.at) + (index + 1) * HOUR_MS).toISOString(),
    unit: 'hour',
    sent: 0,
    clicked: 0,
    opened: 0,
    opened_by_machine: 0,
  }));
}

function tellPoint({ at, unit }: Point): string {
  return (unit === 'hour' ? hour : day).format(Date.parse(at));
}

function Drawn({ of, has_opens }: { of: readonly Point[]; has_opens: boolean }) {
  const points = [...of, ...comingAfter(of)];
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return null;
  const ends = [tellPoint(first), tellPoint(last)] as const;
  const days_from = points.findIndex(({ unit }) => unit === 'day');
  const shown = [
    ['Sent', 'sent', 'accent'],
    ['Clicked', 'clicked', 'good'],
    ...(has_opens
      ? ([
          ['Opened', 'opened', 'good'],
          ['Opened by machines', 'opened_by_machine', 'accent'],
        ] as const)
      : []),
  ] as const;
  return (
    <div class="stack">
      {shown.map(([label, name, tone]) => (
        <Bars
          key={name}
          label={label}
          values={points.map((point) => point[name])}
          tone={tone}
          ends={ends}
          shaded_from={days_from < 0 ? null : days_from}
        />
      ))}
      <details class="more">
        <summary>The same in numbers</summary>
        <div class="sunken-table">
          <table aria-label="When it was sent, clicked and opened">
            <thead>
              <tr>
                <th scope="col">From</th>
                {shown.map(([label]) => (
                  <th key={label} scope="col" class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {of
                .filter((point) => point.sent + point.clicked + point.opened + point.opened_by_machine > 0)
                .map((point) => (
                  <tr key={point.at}>
                    <th scope="row">{tellPoint(point)}</th>
                    {shown.map(([label, name]) => (
                      <td key={label} class="number">
                        <Count of={point[name]} />
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}
