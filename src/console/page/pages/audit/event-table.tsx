/** Events of the audit trail, of one project or of all, with their filters. */
import type { AuditEvent } from '../../api.generated.ts';
import { isObject } from '../../api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { DateFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Empty } from '../../components/page.tsx';
import { Time, WithTimes } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import type { List } from '../../use-load.ts';

export const AUDIT_FILTERS = ['event', 'actor', 'since', 'until'] as const;

/** Suggested where one filters by them. */
const EVENTS = [
  'api_key.created',
  'api_key.rotated',
  'api_key.deleted',
  'object.uploaded',
  'object.deleted',
  'email.accepted',
  'email.canceled',
  'email.retried',
  'template.created',
  'template.changed',
  'template.deleted',
  'schedule.created',
  'schedule.changed',
  'schedule.run',
  'schedule.deleted',
];

/** `projects`: names by id, where events are of several. */
export function EventTable(props: { list: List<AuditEvent>; projects?: ReadonlyMap<string, string> }) {
  const { list, projects } = props;
  return (
    <>
      <Filters>
        <SearchFilter name="event" label="Event, in full" list={EVENTS} />
        <SearchFilter name="actor" label="Person or token, in full" />
        <DateFilter name="since" label="From" />
        <DateFilter name="until" label="To" is_end />
      </Filters>
      <DataTable
        label="Events"
        list={list}
        keyOf={(event) => event.id}
        columns={[
          { title: 'What happened', cell: (event) => <Sentence of={event} /> },
          ...(projects
            ? [
                {
                  title: 'Project',
                  cell: (event: AuditEvent) => <ProjectOf id={event.project_id} names={projects} />,
                },
              ]
            : []),
          { title: 'When', cell: (event) => <Time at={event.at} exact /> },
        ]}
        empty={
          <Empty drawing="chart" title="Nothing happened yet">
            <p>
              Whatever changes a key, a setting or a secret is noted here, with who did it and from where.
            </p>
          </Empty>
        }
      />
    </>
  );
}

/** Metadata that the sentence says already. */
const SAID = ['name', 'list', 'email', 'host', 'service', 'fields', 'set'];

/** The sentence of an event, which leads to its target; below it each changed value, before and after, and other facts. */
function Sentence({ of }: { of: AuditEvent }) {
  const facts = Object.entries(of.metadata)
    .filter(([name, value]) => !(SAID.includes(name) || (Array.isArray(value) && value.length === 0)))
    .map(([name, value]) => `${wordsOf(name)}: ${tell(value)}`);
  // Of a secret the sentence has the name, and there is no more to tell.
  const changes = Object.entries(of.changes).flatMap(([name, change]) =>
    'from' in change ? [`${wordsOf(name)}: ${tell(change.from)} → ${tell(change.to)}`] : [],
  );
  const told = [...changes, ...facts];
  const path = pathOf(of);
  return (
    <>
      {path === null ? (
        <span class="said">{of.sentence}</span>
      ) : (
        <a class="said" href={hrefOf(path)}>
          {of.sentence}
        </a>
      )}
      {told.length > 0 && (
        <span class="cell-note said">
          <WithTimes text={told.join(' · ')} />
        </span>
      )}
      <From of={of} />
    </>
  );
}

function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A record is told by what names it. */
function tell(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'nothing' : value;
  if (value === null) return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(tell).join(', ') || 'nothing';
  if (!isObject(value)) return JSON.stringify(value);
  const name = value.name ?? value.value ?? value.email ?? value.id;
  return name === undefined ? JSON.stringify(value) : tell(name);
}

/** Paths of pages by the kinds of targets, in a project and in none. */
const PLACES: Readonly<Record<string, string>> = {
  email: 'emails',
  object: 'files',
  template: 'templates',
  schedule: 'schedules',
  api_key: 'keys',
  sequence: 'sequences',
  broadcast: 'broadcasts',
  list: 'lists',
  contact: 'contacts',
  import: 'imports',
};
const OWN_PLACES: Readonly<Record<string, string>> = {
  person: 'people',
  mailbox: 'mailboxes',
  sending_domain: 'sending-domains',
  backup: 'backups',
};

/** The page of what it was done to, which says so if that is gone; null where it has none. */
function pathOf({ target, project_id }: AuditEvent): string | null {
  const [, kind = '', id = ''] = /^([^:]*):(.*)$/s.exec(target ?? '') ?? [];
  const places = project_id === null ? OWN_PLACES : PLACES;
  const place = Object.hasOwn(places, kind) ? places[kind] : undefined;
  if (place === undefined) return null;
  return project_id === null ? to`/${place}/${id}` : to`/projects/${project_id}/${place}/${id}`;
}

const KINDS: Readonly<Record<AuditEvent['actor_kind'], string>> = {
  person: 'the console',
  token: 'a token',
  shell: 'the command line',
  system: 'Satchel itself',
};

/** By which way it came, and the name of the event, which the filter takes. */
function From({ of }: { of: AuditEvent }) {
  return (
    <span class="cell-note said">
      By {KINDS[of.actor_kind]}
      {of.ip !== null && ` from ${of.ip}`} · <code>{of.event}</code>
    </span>
  );
}

/** It may be deleted by now: its page says so then. */
function ProjectOf({ id, names }: { id: string | null; names: ReadonlyMap<string, string> }) {
  if (id === null) return null;
  return (
    <a class="said" href={hrefOf(to`/projects/${id}`)} title={id}>
      {names.get(id) ?? `…${id.slice(-6)}`}
    </a>
  );
}
