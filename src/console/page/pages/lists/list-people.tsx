/** Who is on a list, by status, and what is known of the list itself. */
import type { ContactList } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { CONSENT_BASES } from '../contacts/consent-bases.ts';
import { SignUpPanel } from './sign-up-panel.tsx';

const NOTES = {
  active: 'get mail',
  pending: 'have not confirmed',
  unsubscribed: 'left',
  bounced: 'cannot be reached',
  complained: 'called it spam',
} as const;

export function ListPeople({ project, list }: { project: string; list: ContactList }) {
  const contacts = `${hrefOf(to`/projects/${project}/contacts`)}?list=${list.id}`;
  return (
    <>
      <Panel flush title="Contacts" actions={<a href={contacts}>All contacts</a>}>
        <Tiles
          of={Object.entries(NOTES).map(([status, note]) => ({
            label: status.charAt(0).toUpperCase() + status.slice(1),
            value: list.status_counts[status] ?? 0,
            note,
            href: `${contacts}&status=${status}`,
          }))}
        />
      </Panel>
      {list.sign_up_url && !list.archived && <SignUpPanel url={list.sign_up_url} />}
      <Panel title="About the list">
        <Facts
          of={[
            ['Id', <code key="id">{list.id}</code>],
            ['Basis of consent', list.default_consent_basis && CONSENT_BASES[list.default_consent_basis]],
            [
              'Confirmation',
              list.confirmation_template && <code key="template">{list.confirmation_template}</code>,
            ],
            [
              'Token hosts',
              list.token_hosts.length > 0 ? (
                <span key="hosts" class="badges">
                  {list.token_hosts.map((host) => (
                    <Badge key={host}>{host}</Badge>
                  ))}
                </span>
              ) : null,
            ],
            ['Created', <Time key="created" at={list.created_at} />],
          ]}
        />
      </Panel>
    </>
  );
}
