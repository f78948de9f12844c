/** One list: who is on it, how they came and come, and what may be changed of it. */

import type { ContactList } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Tiles } from '../../components/tiles.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { ContactsOfList } from '../contacts/contacts-of-list.tsx';
import { ListImports } from './list-imports.tsx';
import { ListSettings } from './list-settings.tsx';
import { SignUp } from './sign-up.tsx';

const TABS = { people: 'People', imports: 'Imports', 'sign-up': 'Sign-up', settings: 'Settings' } as const;

export default function ListPage({ params }: PageProps<'project' | 'list'>) {
  const { project } = params;
  const load = useLoad('GET /projects/{project}/email-lists/{list}', { path: params }, { looks_again: true });
  const tab = useTab(['people', 'imports', 'sign-up', 'settings']);
  const list = load.data;
  return (
    <>
      <PageHeader
        title={list?.name ?? 'List'}
        back={{ href: hrefOf(to`/projects/${project}/lists`), label: 'Lists' }}
        beside={
          list && (
            <>
              {list.double_opt_in && <Badge>double opt-in</Badge>}
              {list.archived && <Status of="archived" />}
            </>
          )
        }
        lead={list?.description}
        actions={
          list &&
          !list.archived && (
            <>
              <ButtonLink href={hrefOf(to`/projects/${project}/lists/${list.id}/import`)}>Import</ButtonLink>
              <ButtonLink
                kind="primary"
                href={`${hrefOf(to`/projects/${project}/contacts/new`)}?list=${list.id}`}
              >
                <Icon name="plus" />
                Add a contact
              </ButtonLink>
            </>
          )
        }
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            {tab === 'people' && <ListPeople project={project} list={of} />}
            {tab === 'imports' && <ListImports project={project} list={of} />}
            {tab === 'sign-up' && <SignUp project={project} list={of} />}
            {tab === 'settings' && (
              <ListSettings project={project} list={of} etag={load.etag} onChange={load.reload} />
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

const NOTES = {
  active: 'get mail',
  pending: 'have not confirmed',
  unsubscribed: 'left',
  bounced: 'cannot be reached',
  complained: 'called it spam',
} as const;

function ListPeople({ project, list }: { project: string; list: ContactList }) {
  const here = hrefOf(to`/projects/${project}/lists/${list.id}`);
  return (
    <>
      <Panel flush>
        <Tiles
          of={Object.entries(NOTES).map(([status, note]) => ({
            label: status.charAt(0).toUpperCase() + status.slice(1),
            value: list.status_counts[status] ?? 0,
            note,
            href: `${here}?status=${status}`,
          }))}
        />
      </Panel>
      <div>
        <ContactsOfList project={project} list={list} />
      </div>
    </>
  );
}
