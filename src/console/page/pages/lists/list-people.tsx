/** Who is on a list: how many by status, and each of them. */
import type { ContactList } from '../../api.generated.ts';
import { Panel } from '../../components/page.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { hrefOf, to } from '../../router.ts';
import { ContactsOfList } from '../contacts/contacts-of-list.tsx';

const NOTES = {
  active: 'get mail',
  pending: 'have not confirmed',
  unsubscribed: 'left',
  bounced: 'cannot be reached',
  complained: 'called it spam',
} as const;

export function ListPeople({ project, list }: { project: string; list: ContactList }) {
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
