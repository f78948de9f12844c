/** Recipients of a broadcast who had their turn, and what became of each mail. */
import type { LeftOut } from '../../api.generated.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Empty, Facts } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import type { BroadcastPartProps } from './part.tsx';

export function Recipients({ path, of }: BroadcastPartProps) {
  const list = useList(
    'GET /projects/{project}/email-broadcasts/{broadcast}/recipients',
    { path },
    { looks_again: ['sending', 'testing'].includes(of.status) },
  );
  return (
    <DataTable
      label="Recipients"
      list={list}
      keyOf={({ contact_id, email_id }) => email_id ?? contact_id}
      columns={[
        {
          title: 'Person',
          cell: (row) => <Person project={path.project} id={row.contact_id} email={row.email} />,
        },
        { title: 'What became of it', cell: ({ status }) => <Status of={status} /> },
        {
          title: 'Why',
          cell: ({ reason }) => (reason === null ? <span class="muted">—</span> : tellReason(reason)),
        },
        { title: 'Clicked', cell: ({ clicked_at }) => <Time at={clicked_at} /> },
        {
          title: 'Mail',
          cell: ({ email_id }) =>
            email_id === null ? (
              <span class="muted">none</span>
            ) : (
              <a href={hrefOf(to`/projects/${path.project}/emails/${email_id}`)}>Its story</a>
            ),
        },
      ]}
      empty={
        <Empty title="Nobody has had their turn yet">
          <p>
            Once it is being sent, everybody of the list stands here: who got it, and who was left out and
            why.
          </p>
        </Empty>
      }
    />
  );
}

function Person({ project, id, email }: { project: string; id: string; email: string }) {
  if (id === '') return <span class="muted">gone</span>;
  return <a href={hrefOf(to`/projects/${project}/contacts/${id}`)}>{email}</a>;
}

type Reason = keyof LeftOut['by_reason'];

const WORDS: Readonly<Record<Reason, string>> = {
  unsubscribed: 'unsubscribed',
  suppressed: 'address suppressed',
  bounced: 'mail came back before',
  complained: 'complained before',
  pending: 'has not confirmed',
  paused: 'has paused the mail it gets',
  filter: 'does not fit the filter',
  no_value: 'no value for a field of the mail',
};

/** A reason as the API has it; what else it says, such as a server's refusal, stays as it is. */
export function tellReason(reason: string): string {
  return Object.hasOwn(WORDS, reason) ? WORDS[reason as Reason] : reason;
}

/** The number of people for each reason. */
export function LeftOutFacts({ of: { by_reason } }: { of: LeftOut }) {
  const found = Object.entries(by_reason).filter(([, people]) => people > 0);
  if (found.length === 0) return null;
  return (
    <Facts
      of={found.map(([reason, people]) => [tellReason(reason), <Count key={reason} of={people} />] as const)}
    />
  );
}
