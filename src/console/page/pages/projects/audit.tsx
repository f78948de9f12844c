/** Who did what in a project, and when. */
import type { AuditEvent } from '../../api.generated.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DateFilter } from '../../components/date-filter.tsx';
import { Empty } from '../../components/empty.tsx';
import { Filters, TextFilter } from '../../components/filters.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-list.ts';

const EVENTS = [
  ...['api_key.created', 'api_key.rotated', 'api_key.deleted', 'object.uploaded', 'object.deleted'],
  ...['email.accepted', 'email.canceled', 'email.retried', 'template.created', 'template.changed'],
  ...['template.deleted', 'schedule.created', 'schedule.changed', 'schedule.run', 'schedule.deleted'],
];

export default function ProjectAuditPage({ params }: PageProps<'project'>) {
  const list = useList(
    'GET /projects/{project}/audit',
    { path: params },
    { filters: ['event', 'actor', 'since', 'until'] },
  );
  return (
    <>
      <PageHeader
        title="Audit"
        lead="Who changed what, and from where. Apps are not on it: what a key does stands in the logs of mails and files."
      />
      <Filters>
        <TextFilter name="event" label="Event" list={EVENTS} />
        <TextFilter name="actor" label="Person or token" />
        <DateFilter name="since" label="Since" />
        <DateFilter name="until" label="Until" is_end />
      </Filters>
      <DataTable
        label="Events"
        list={list}
        keyOf={(event) => event.id}
        columns={[
          {
            title: 'Event',
            cell: (event) => (
              <>
                {event.event}
                <span class="cell-note fine">{told(event)}</span>
              </>
            ),
          },
          { title: 'Of', cell: (event) => <Target project={params.project} of={event.target} /> },
          {
            title: 'By',
            cell: (event) => (
              <>
                {event.actor_name}
                <span class="cell-note fine">{[event.actor_kind, event.ip].filter(Boolean).join(', ')}</span>
              </>
            ),
          },
          { title: 'When', cell: (event) => <Time at={event.at} exact /> },
        ]}
        empty={
          <Empty title="Nothing has happened yet">
            <p>Whatever people and tokens change in this project is noted here, and stays.</p>
          </Empty>
        }
      />
    </>
  );
}

/** What the event says besides, in a line. */
function told({ metadata }: AuditEvent): string {
  return Object.entries(metadata)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => {
      const text = Array.isArray(value) ? value.map(String).join(', ') : value;
      return `${name.replaceAll('_', ' ')}: ${typeof text === 'string' ? text : JSON.stringify(text)}`;
    })
    .join('; ');
}

const PLACES: Readonly<Record<string, string>> = {
  ...{ email: 'emails', object: 'files', template: 'templates', schedule: 'schedules', api_key: 'keys' },
  sequence: 'sequences',
};

/** A link where the thing has a page, which says so if it is gone. */
function Target({ project, of }: { project: string; of: string | null }) {
  if (of === null) return <span class="muted">—</span>;
  const [, kind = '', id = ''] = /^([^:]*):(.*)$/s.exec(of) ?? [];
  const place = Object.hasOwn(PLACES, kind) ? PLACES[kind] : undefined;
  if (kind === 'project') return <span class="target">the project</span>;
  if (place === undefined) return <span class="target">{of}</span>;
  return (
    <a class="target" href={hrefOf(to`/projects/${project}/${place}/${id}`)}>
      {kind.replaceAll('_', ' ')} {id}
    </a>
  );
}
