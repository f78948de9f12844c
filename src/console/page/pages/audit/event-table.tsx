/** Events of the audit trail, of one project or of all, with their filters. */
import type { AuditEvent } from '../../api.generated.ts';
import { isObject } from '../../api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DateFilter } from '../../components/date-filter.tsx';
import { Empty } from '../../components/empty.tsx';
import { Filters, SearchFilter } from '../../components/filters.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import type { List } from '../../use-list.ts';

export const AUDIT_FILTERS = ['event', 'actor', 'since', 'until'] as const;

/** `projects`: names by id, where events are of several. */
export function EventTable(props: { list: List<AuditEvent>; projects?: ReadonlyMap<string, string> }) {
  const { list, projects } = props;
  return (
    <>
      <Filters>
        <SearchFilter name="event" label="Event, such as api_key.rotated" />
        <SearchFilter name="actor" label="Who: name of a person or token" />
        <DateFilter name="since" label="From" />
        <DateFilter name="until" label="To" is_end />
      </Filters>
      <DataTable
        label="Events"
        list={list}
        keyOf={(event) => event.id}
        columns={[
          { title: 'Event', cell: (event) => <Event of={event} /> },
          { title: 'Who', cell: (event) => <Who of={event} /> },
          ...(projects
            ? [
                {
                  title: 'Project',
                  cell: (event: AuditEvent) => <ProjectOf id={event.project_id} names={projects} />,
                },
              ]
            : []),
          { title: 'When', cell: (event) => <Time at={event.at} /> },
        ]}
        empty={
          <Empty title="Nothing happened yet">
            <p>
              Whatever changes a key, a setting or a secret is noted here, with who did it and from where.
            </p>
          </Empty>
        }
      />
    </>
  );
}

function Event({ of }: { of: AuditEvent }) {
  const facts = Object.entries(of.metadata).map(([name, value]) => `${name}: ${tell(value)}`);
  const told = [...(of.target === null ? [] : [of.target]), ...facts];
  return (
    <>
      <code>{of.event}</code>
      {told.length > 0 && <span class="cell-note said">{told.join(' · ')}</span>}
    </>
  );
}

/** A record is told by what names it. */
function tell(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(tell).join(', ');
  if (!isObject(value)) return JSON.stringify(value);
  const name = value.name ?? value.value ?? value.email ?? value.id;
  return name === undefined ? JSON.stringify(value) : tell(name);
}

const KINDS: Readonly<Record<AuditEvent['actor_kind'], string>> = {
  person: 'person',
  token: 'token',
  shell: 'at the command line',
  system: 'by itself',
};

function Who({ of }: { of: AuditEvent }) {
  return (
    <>
      <span class="said">{of.actor_name}</span>
      <span class="cell-note">
        {KINDS[of.actor_kind]}
        {of.ip !== null && ` · ${of.ip}`}
      </span>
    </>
  );
}

/** It may be deleted by now: its page says so then. */
function ProjectOf({ id, names }: { id: string | null; names: ReadonlyMap<string, string> }) {
  if (id === null) return <span class="muted">—</span>;
  return (
    <a class="said" href={hrefOf(to`/projects/${id}`)} title={id}>
      {names.get(id) ?? `…${id.slice(-6)}`}
    </a>
  );
}
