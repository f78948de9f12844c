/** The contacts of a list, found by how their address or name begins, by status and by tag. */
import { useEffect } from 'preact/hooks';
import type { ContactList } from '../../api.generated.ts';
import { Empty } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to, useQuery } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { ContactsOfList } from './contacts-of-list.tsx';

/** More lists than this are reached by their own pages. */
const LISTS_TO_CHOOSE = 50;

export default function ContactsPage({ params }: PageProps<'project'>) {
  const { project } = params;
  const load = useLoad('GET /projects/{project}/email-lists', {
    path: params,
    query: { per_page: LISTS_TO_CHOOSE, include_archived: true },
  });
  const asked = useQuery().get('list');
  const lists = load.data?.data ?? [];
  const chosen = asked ?? lists.find((list) => !list.archived)?.id ?? lists[0]?.id ?? null;
  // The list stands in the address, so that it can be sent on.
  useEffect(() => {
    if (asked === null && chosen !== null)
      navigate(`${to`/projects/${project}/contacts`}?list=${chosen}`, { replace: true });
  }, [asked, chosen, project]);
  return (
    <>
      <PageHeader
        title="Contacts"
        lead="An address on a list, with the evidence of why it may be mailed."
        actions={chosen !== null && <Actions project={project} list={chosen} />}
      />
      <Loaded load={load}>
        {() =>
          chosen === null ? (
            <div class="panel">
              <Empty
                drawing="people"
                title="No list yet"
                command={`satchel list create --project ${project} --name Newsletter`}
              >
                <p>Contacts are on lists. Make a list, then add people to it or import them.</p>
                <a class="button primary" href={hrefOf(to`/projects/${project}/lists/new`)}>
                  New list
                </a>
              </Empty>
            </div>
          ) : (
            asked !== null && <ChosenList key={asked} project={project} list={asked} lists={lists} />
          )
        }
      </Loaded>
    </>
  );
}

function Actions({ project, list }: { project: string; list: string }) {
  return (
    <>
      <a class="button" href={hrefOf(to`/projects/${project}/lists/${list}/import`)}>
        Import
      </a>
      <a class="button primary" href={`${hrefOf(to`/projects/${project}/contacts/new`)}?list=${list}`}>
        <Icon name="plus" />
        Add a contact
      </a>
    </>
  );
}

function ChosenList(props: { project: string; list: string; lists: readonly ContactList[] }) {
  const { project, list, lists } = props;
  const load = useLoad('GET /projects/{project}/email-lists/{list}', { path: { project, list } });
  return (
    <Loaded load={load}>
      {(of) => {
        const choices = lists.some(({ id }) => id === of.id) ? lists : [of, ...lists];
        return <ContactsOfList project={project} list={of} lists={choices} />;
      }}
    </Loaded>
  );
}
