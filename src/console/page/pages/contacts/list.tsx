/** The contacts of all lists, found by how their address begins; of a whole address, all that is held about it. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Filters, SearchFilter } from '../../components/filters.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to, useQuery } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { AboutAddress } from './about-address.tsx';

const WHOLE_ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export default function ContactsPage({ params }: PageProps<'project'>) {
  const { project } = params;
  const email = useQuery().get('email')?.trim() ?? '';
  const list = useList('GET /projects/{project}/email-contacts', { path: params }, { filters: ['email'] });
  const lists = hrefOf(to`/projects/${project}/lists`);
  return (
    <>
      <PageHeader
        title="Contacts"
        lead="An address on a list, with the evidence of why it may be mailed: those of all lists. To filter, tag or export them, open their list."
        actions={<ButtonLink href={lists}>Lists</ButtonLink>}
      />
      <Filters>
        <SearchFilter name="email" label="Address begins with" />
      </Filters>
      <div class="stack">
        <DataTable
          label="Contacts"
          list={list}
          keyOf={(contact) => contact.id}
          href={(contact) => hrefOf(to`/projects/${project}/contacts/${contact.id}`)}
          columns={[
            { title: 'Email', cell: (contact) => contact.email },
            {
              title: 'Name',
              cell: ({ first_name, last_name }) => [first_name, last_name].filter(Boolean).join(' ') || '—',
            },
            {
              title: 'List',
              cell: (contact) => (
                <a href={hrefOf(to`/projects/${project}/lists/${contact.list}`)}>{contact.list_name}</a>
              ),
            },
            { title: 'Status', cell: ({ status }) => <Status of={status} /> },
            { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
          empty={
            <Empty
              drawing="people"
              title="Nobody is on a list yet"
              command={`satchel list create --project ${project} --name Newsletter`}
            >
              <p>Contacts are on lists. Make a list, then add people to it or import them.</p>
              <ButtonLink kind="primary" href={lists}>
                Lists
              </ButtonLink>
            </Empty>
          }
        />
        {WHOLE_ADDRESS.test(email) && (
          <AboutAddress key={email} project={project} email={email} onForget={list.reload} />
        )}
      </div>
    </>
  );
}
