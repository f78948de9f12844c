/** The table of a list's contacts with its filters; tagging those that were picked or that match, and saving these as a table. */

import { useState } from 'preact/hooks';
import type { Contact, ContactFilter, ContactList } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink, FileLink } from '../../components/button-link.tsx';
import { ChosenBar, useChosen } from '../../components/chosen.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Form } from '../../components/form.tsx';
import { Empty } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, setQuery, to, useQuery } from '../../router.ts';
import { useAll, useList, useLoad } from '../../use-load.ts';
import { BulkTag } from './bulk-tag.tsx';
import { addressOf, filterIn, queryOf, STATUSES } from './filter.ts';
import { FilterRows } from './filter-rows.tsx';
import { Matching } from './matching.tsx';

/** More of them make a row too high to read. */
const TAGS_SHOWN = 4;

interface ContactsOfListProps {
  project: string;
  list: ContactList;
}

export function ContactsOfList({ project, list: of }: ContactsOfListProps) {
  const path = { project, list: of.id };
  const query = useQuery();
  const segment = query.get('segment') ?? '';
  const filter = filterIn(query);
  const asked = segment === '' ? queryOf(filter) : { segment };
  const segments = useAll('GET /projects/{project}/email-segments', {
    path: { project },
    query: { list: of.id },
  });
  const list = useList(
    'GET /projects/{project}/email-lists/{list}/contacts',
    { path },
    {
      filters: segment === '' ? ['q', 'status', 'filter'] : ['segment'],
      query: asked,
      // On a long list conditions are much work.
      looks_again: segment === '' && !query.has('filter'),
    },
  );
  const chosen = useChosen<Contact>({
    one: 'contact',
    keyOf: ({ id }) => id,
    nameOf: ({ email }) => email,
    onChange: list.reload,
  });
  const leave = ({ id }: Contact): Promise<unknown> =>
    call('POST /projects/{project}/email-contacts/{contact}/unsubscribe', { path: { project, contact: id } });
  const meta = list.data?.meta;
  return (
    <>
      <Filters>
        {segments.data && segments.data.length > 0 && (
          <select
            class="input"
            aria-label="Segment"
            value={segment}
            onChange={(event) => setQuery({ segment: event.currentTarget.value })}
          >
            <option value="">Segment: none</option>
            {segments.data.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        {segment === '' && (
          <>
            <SearchFilter label="Address or name begins with" />
            <ChoiceFilter name="status" label="Status" choices={STATUSES} />
            <FilterButton path={path} />
          </>
        )}
        {meta && meta.total > 0 && (
          <BulkTag path={path} picked={[]} meta={meta} segment={segment} onChange={list.reload} />
        )}
        {meta && meta.total > 0 && (
          <FileLink
            endpoint="GET /projects/{project}/email-lists/{list}/contacts.csv"
            input={{ path, query: asked }}
          >
            Save as CSV
          </FileLink>
        )}
      </Filters>
      {segment === '' && query.has('filter') && (
        <ShownFilter path={path} filter={filter} all={list.unfiltered} />
      )}
      <DataTable
        label="Contacts"
        list={list}
        keyOf={(contact) => contact.id}
        href={(contact) => hrefOf(to`/projects/${project}/contacts/${contact.id}`)}
        columns={[...COLUMNS, ...chosen.columns]}
        empty={<NoContacts project={project} list={of} />}
      />
      <ChosenBar chosen={chosen} one="contact" shown={list.data?.data ?? []}>
        {meta && (
          <BulkTag
            path={path}
            picked={chosen.rows.map(({ id }) => id)}
            meta={meta}
            segment={segment}
            onChange={() => {
              chosen.clear();
              list.reload();
            }}
          />
        )}
        <ConfirmByName
          title="Unsubscribe those picked"
          button="Unsubscribe"
          name={counted(chosen.rows.length, 'contact')}
          act={() => chosen.each(leave, 'unsubscribed')}
        >
          <p>
            Their addresses leave every list of this project, their sequences end, and they are suppressed:
            they cannot be added again before the suppression is lifted.
          </p>
        </ConfirmByName>
      </ChosenBar>
    </>
  );
}

function ShownFilter(props: { path: { project: string; list: string }; filter: ContactFilter; all: string }) {
  const { path, filter, all } = props;
  const told = useLoad('POST /projects/{project}/email-lists/{list}/matching', { path, body: { filter } });
  return (
    <p class="muted shown-filter">
      {told.data?.sentence ?? 'Only some of the list.'} <a href={all}>Show everybody</a>
    </p>
  );
}

const COLUMNS: readonly Column<Contact>[] = [
  { title: 'Email', cell: ({ email }) => <Clip>{email}</Clip> },
  {
    title: 'Name',
    cell: ({ first_name, last_name }) => {
      const name = [first_name, last_name].filter(Boolean).join(' ');
      return name ? <Clip>{name}</Clip> : <span class="muted">—</span>;
    },
  },
  { title: 'Status', cell: (contact) => <Status of={contact.status} /> },
  { title: 'Tags', cell: ({ tags }) => <Tags of={tags} /> },
  { title: 'Added', cell: (contact) => <Time at={contact.created_at} /> },
];

function Clip({ children }: { children: string }) {
  return (
    <span class="clip" title={children}>
      {children}
    </span>
  );
}

function Tags({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <span class="muted">—</span>;
  return (
    <span class="badges">
      {of.slice(0, TAGS_SHOWN).map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
      {of.length > TAGS_SHOWN && <span class="muted">and {of.length - TAGS_SHOWN} more</span>}
    </span>
  );
}

function NoContacts({ project, list }: { project: string; list: ContactList }) {
  return (
    <Empty
      drawing="people"
      title="Nobody is on this list yet"
      command={`satchel import start ${list.id} people.csv`}
    >
      {list.archived ? (
        <p>It is archived: nobody can be added until it is restored in its settings.</p>
      ) : (
        <>
          <p>Add people one by one, import a file, or have them sign up by a form of your site.</p>
          <ButtonLink kind="primary" href={hrefOf(to`/projects/${project}/lists/${list.id}/import`)}>
            Import
          </ButtonLink>
        </>
      )}
    </Empty>
  );
}

/** Builds the filter of a list's contacts, which stands in the address beside what is searched for. */
function FilterButton({ path }: { path: { project: string; list: string } }) {
  const now = filterIn(useQuery());
  const [built, setBuilt] = useState<ContactFilter | null>(null);
  const close = (): void => setBuilt(null);
  const show = async (): Promise<void> => {
    // A wrong filter is refused here, beside its field.
    const query = { ...queryOf(built ?? {}), per_page: 1 };
    await call('GET /projects/{project}/email-lists/{list}/contacts', { path, query });
    setQuery(addressOf(built ?? {}));
    close();
  };
  return (
    <>
      <button type="button" class="button" onClick={() => setBuilt(now)}>
        Conditions
      </button>
      {built && (
        <Dialog title="Who is shown" onClose={close} is_wide>
          <Form is_fleeting is_for_readers submit="Show them" onSubmit={show} onCancel={close}>
            <FilterRows list={path} of={now} onChange={setBuilt} />
            <Matching {...path} filter={built} />
          </Form>
        </Dialog>
      )}
    </>
  );
}
