/** All at a glance: what is stored, what waits, what became of mail hour by hour, and how the machine is. */
import type { Overview } from '../api.generated.ts';
import { Chart } from '../components/chart.tsx';
import { Empty } from '../components/empty.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { Bytes, counted, tellBytes } from '../components/quantity.tsx';
import { type TileProps, Tiles } from '../components/tiles.tsx';
import { hrefOf } from '../router.ts';
import { person } from '../session.ts';
import { useLoad } from '../use-load.ts';
import { RangeChoice, useDays } from './activity-range.tsx';
import { FindingsLine, FindingsPanel } from './findings/overview-panel.tsx';

const REFRESH_MS = 30_000;

export default function OverviewPage() {
  const days = useDays();
  const load = useLoad('GET /overview', { query: days === null ? {} : { days } }, { every_ms: REFRESH_MS });
  return (
    <>
      <PageHeader title="Overview" />
      <Loaded load={load}>
        {(overview) =>
          overview.projects === 0 ? (
            <FirstSteps />
          ) : (
            <div class="stack">
              <FindingsLine />
              <Panel flush>
                <Tiles of={tilesOf(overview)} />
              </Panel>
              <Mail overview={overview} />
              <Marketing overview={overview} />
              <Machine overview={overview} />
              <FindingsPanel />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function FirstSteps() {
  return (
    <div class="panel">
      <Empty drawing="satchel" title="Nothing here yet" command="satchel project create --name Shop">
        <p>
          Everything in Satchel belongs to a project: make one for your first app, then a key that the app
          shows.
        </p>
        <a class="button primary" href={hrefOf('/projects/new')}>
          New project
        </a>
      </Empty>
    </div>
  );
}

function tilesOf({ projects, api_keys, objects, emails, jobs }: Overview): TileProps[] {
  const waiting = emails.queued + emails.sending;
  return [
    { label: 'Projects', value: projects, note: counted(api_keys, 'key'), href: hrefOf('/projects') },
    { label: 'Files', value: objects.count, note: tellBytes(objects.size_bytes) },
    { label: 'Mails on their way', value: waiting, note: `${counted(emails.scheduled, 'mail')} scheduled` },
    {
      label: 'Jobs waiting',
      value: jobs.pending + jobs.processing,
      note: jobs.failed > 0 ? `${counted(jobs.failed, 'job')} failed` : 'none failed',
      ...(person.value?.can_administer && { href: hrefOf('/jobs') }),
    },
  ];
}

function Mail({ overview: { hours, days } }: { overview: Overview }) {
  const unit = days ? 'day' : 'hour';
  const told = days ?? hours;
  const sent = told.map((each) => each.sent);
  const failed = told.map((each) => each.failed + each.bounced + each.complained);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return (
    <Panel
      title={`Mail by ${unit}`}
      lead={`${counted(sum(sent), 'mail')} sent and ${sum(failed)} failed, bounced or complained about in ${counted(told.length, unit)}.`}
      actions={<RangeChoice without="24 hours" />}
    >
      {sum(sent) + sum(failed) === 0 ? (
        <Empty drawing="chart" title={`No mail in these ${unit}s`}>
          <p>
            What your apps send, and what comes back, is drawn here {unit} by {unit}.
          </p>
        </Empty>
      ) : (
        <Chart
          label={`Mails by ${unit}`}
          unit={unit}
          at={days?.map(({ date }) => date) ?? hours.map(({ hour }) => hour)}
          of={[
            { label: 'Sent', values: sent, tone: 'accent' },
            { label: 'Failed or came back', values: failed, tone: 'bad' },
          ]}
        />
      )}
    </Panel>
  );
}

function Marketing({ overview }: { overview: Overview }) {
  const { contact_lists, contacts, suppressions, sequences, email_schedules } = overview;
  return (
    <Panel flush>
      <Tiles
        of={[
          { label: 'Contacts', value: contacts, note: `on ${counted(contact_lists, 'list')}` },
          { label: 'Suppressions', value: suppressions, note: 'get no marketing mail' },
          { label: 'Sequences', value: sequences },
          { label: 'Schedules', value: email_schedules },
        ]}
      />
    </Panel>
  );
}

function Machine({ overview }: { overview: Overview }) {
  const { machine } = overview;
  // Those who may not administer are not told.
  if (!machine) return null;
  const { disk_bytes, free_disk_bytes, database_bytes, version } = machine;
  const free_percent = disk_bytes === 0 ? 0 : Math.round((free_disk_bytes / disk_bytes) * 100);
  return (
    <Panel title="Machine">
      <Facts
        of={[
          [
            'Disk',
            <span key="disk">
              <Bytes of={free_disk_bytes} /> of <Bytes of={disk_bytes} /> free ({free_percent}%)
            </span>,
          ],
          ['Database', <Bytes key="database" of={database_bytes} />],
          ['Version', version],
        ]}
      />
    </Panel>
  );
}
