/** What happened in a project lately: mails by day, what failed last, and when its keys were used. */
import type { Activity, ProjectWithKeys } from '../../api.generated.ts';
import { Chart } from '../../components/chart.tsx';
import { Empty } from '../../components/empty.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted, tellBytes } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { RangeChoice } from '../activity-range.tsx';

const MAX_KEYS = 6;

type Day = Activity['days'][number];

function sumOf(days: readonly Day[], numberOf: (day: Day) => number): number {
  return days.reduce((sum, day) => sum + numberOf(day), 0);
}

const amissOf = ({ failed, bounced, complained }: Day): number => failed + bounced + complained;

export function Numbers({ slug, activity }: { slug: string; activity: Activity }) {
  const { days, storage } = activity;
  const log = hrefOf(to`/projects/${slug}/emails`);
  const in_days = `in ${days.length} days`;
  return (
    <Panel flush>
      <Tiles
        of={[
          { label: 'Mails sent', value: sumOf(days, ({ sent }) => sent), note: in_days, href: log },
          { label: 'Failed or came back', value: sumOf(days, amissOf), note: in_days },
          { label: 'Clicked', value: sumOf(days, ({ clicked }) => clicked), note: in_days },
          {
            label: 'Files',
            value: storage.objects,
            note: `${tellBytes(storage.bytes)}, ${sumOf(days, ({ uploads }) => uploads)} new`,
            href: hrefOf(to`/projects/${slug}/files`),
          },
        ]}
      />
    </Panel>
  );
}

export function MailByDay({ activity }: { activity: Activity }) {
  const { days } = activity;
  return (
    <Panel title="Mail by day" actions={<RangeChoice />}>
      {days.every((day) => day.sent + amissOf(day) === 0) ? (
        <Empty drawing="chart" title="No mail in these days">
          <p>What the app sends, and what comes back, is drawn here day by day (UTC).</p>
        </Empty>
      ) : (
        <Chart
          label="Mails by day"
          unit="day"
          at={days.map(({ date }) => date)}
          of={[
            { label: 'Sent', values: days.map(({ sent }) => sent), tone: 'accent' },
            { label: 'Clicked', values: days.map(({ clicked }) => clicked), tone: 'good' },
            { label: 'Failed or came back', values: days.map(amissOf), tone: 'bad' },
          ]}
        />
      )}
    </Panel>
  );
}

export function LastErrors({ slug, activity }: { slug: string; activity: Activity }) {
  const { last_errors } = activity;
  return (
    <Panel title="What failed last" flush={last_errors.length > 0}>
      {last_errors.length === 0 ? (
        <p class="muted">No mail of this project has failed or come back.</p>
      ) : (
        <table aria-label="What failed last">
          <tbody>
            {last_errors.map(({ email_id, to: address, status, error, at }) => (
              <tr key={email_id}>
                <td>
                  <a class="row-link" href={hrefOf(to`/projects/${slug}/emails/${email_id}`)}>
                    {address}
                  </a>
                  <span class="cell-note">{error}</span>
                </td>
                <td class="number">
                  <Status of={status} />
                  <span class="cell-note">
                    <Time at={at} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

export function KeysInUse({ project, activity }: { project: ProjectWithKeys; activity: Activity }) {
  const { slug, api_keys } = project;
  return (
    <Panel title="Keys" actions={<a href={hrefOf(to`/projects/${slug}/keys`)}>All keys</a>} flush>
      <table aria-label="Keys">
        <tbody>
          {activity.keys.slice(0, MAX_KEYS).map(({ id, name, last_used_at }) => {
            const key = api_keys.find((each) => each.id === id);
            return (
              <tr key={id}>
                <td>
                  <a class="row-link" href={hrefOf(to`/projects/${slug}/keys/${id}`)}>
                    {name}
                  </a>
                  {key && <code class="cell-note">{key.key_prefix}…</code>}
                </td>
                <td class="number">
                  {key?.is_active === false && <Status of="inactive" />}
                  <span class="cell-note">
                    {last_used_at === null ? 'not used yet' : <Time at={last_used_at} />}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {activity.keys.length > MAX_KEYS && (
        <p class="table-foot">{counted(api_keys.length - MAX_KEYS, 'further key')}</p>
      )}
    </Panel>
  );
}
