/** All projects at a glance: what waits, the present day, what became of mail, what is stored, and how the machine is. */
import type { Overview } from '../../api.generated.ts';
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes, counted, tellBytes } from '../../components/quantity.tsx';
import { type TileProps, Tiles } from '../../components/tiles.tsx';
import { hrefOf } from '../../router.ts';
import { person } from '../../session.ts';
import { useLoad } from '../../use-load.ts';
import { FindingsLine, FindingsPanel } from '../findings/overview-panel.tsx';
import { FirstChoices } from './first-choices.tsx';
import { Held } from './held.tsx';
import { MailOverTime, useDays } from './mail-over-time.tsx';
import { HowMailDoes, Today } from './today.tsx';
import { Waiting } from './waiting.tsx';

export default function OverviewPage() {
  const days = useDays();
  const load = useLoad('GET /overview', { query: days === null ? {} : { days } }, { looks_again: true });
  return (
    <>
      <PageHeader title="Home" />
      <Loaded load={load}>
        {(overview) =>
          overview.projects === 0 ? (
            <FirstChoices />
          ) : (
            <div class="stack">
              <Held of={overview.held} onChange={load.reload} />
              <FindingsLine />
              {/* The line above tells of these. */}
              <Waiting of={overview.todo.filter(({ kind }) => kind !== 'finding')} of_several />
              <Today of={overview} />
              <Mail overview={overview} />
              <div class="columns">
                <HowMailDoes rates={overview.rates} />
                <Machine overview={overview} />
              </div>
              <Panel title="What there is" flush>
                <Tiles of={tilesOf(overview)} />
              </Panel>
              <FindingsPanel />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function tilesOf(overview: Overview): TileProps[] {
  const { projects, api_keys, objects, emails, jobs, contact_lists, contacts } = overview;
  const waiting = emails.queued + emails.sending;
  return [
    { label: 'Projects', value: projects, note: counted(api_keys, 'key'), href: hrefOf('/projects') },
    { label: 'Files', value: objects.count, note: tellBytes(objects.size_bytes) },
    { label: 'Contacts', value: contacts, note: `on ${counted(contact_lists, 'list')}` },
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
  const moments = days
    ? days.map(({ date, ...numbers }) => ({ at: date, ...numbers }))
    : hours.map(({ hour, ...numbers }) => ({ at: hour, ...numbers }));
  return (
    <MailOverTime
      unit={days ? 'day' : 'hour'}
      without="24 hours"
      of={moments.map(({ at, sent, failed, bounced, complained }) => ({
        at,
        sent,
        amiss: failed + bounced + complained,
      }))}
    />
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
