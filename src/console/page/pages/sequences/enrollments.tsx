/** People who are or were in a sequence, with their step, and why they left. */
import type { Enrollment } from '../../api.generated.ts';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { Empty } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import type { SequencePartProps } from './detail.tsx';
import { tracksOf } from './step-draft.ts';

const STATES = ['active', 'completed', 'exited', 'failed'] as const;

export function Enrollments({ path, of }: SequencePartProps) {
  const list = useList(
    'GET /projects/{project}/email-sequences/{sequence}/enrollments',
    { path },
    { filters: ['state', 'track'] },
  );
  const tracks = tracksOf(of.steps).map(({ name }) => name);
  return (
    <div>
      <Filters>
        <ChoiceFilter name="state" label="State" choices={STATES} />
        {tracks.length > 1 && <ChoiceFilter name="track" label="Track" choices={tracks} />}
      </Filters>
      <DataTable
        label="Enrollments"
        list={list}
        keyOf={(enrollment) => enrollment.id}
        href={({ contact_id }) => hrefOf(to`/projects/${path.project}/contacts/${contact_id}`)}
        columns={[
          { title: 'Contact', cell: ({ email }) => email || 'gone' },
          {
            title: 'State',
            cell: ({ state, is_test }) => (
              <span class="badges">
                <Status of={state} />
                {is_test && <Badge>test</Badge>}
              </span>
            ),
          },
          { title: 'Track', cell: ({ track }) => track },
          { title: 'Step', cell: ({ step }) => step },
          { title: 'Next', cell: (enrollment) => <Next project={path.project} of={enrollment} /> },
          { title: 'Enrolled', cell: ({ enrolled_at }) => <Time at={enrolled_at} /> },
        ]}
        empty={
          <Empty
            drawing="people"
            title="Nobody is enrolled yet"
            command={`satchel sequence enroll ${of.id} --all`}
          >
            <p>
              Contacts of the list come in by being enrolled, or by themselves where the sequence says so.
            </p>
          </Empty>
        }
      />
    </div>
  );
}

const LEFT: Readonly<Record<string, string>> = {
  event: 'an event ended it',
  condition: 'a condition did not hold',
  unsubscribed: 'unsubscribed',
  suppressed: 'address suppressed',
  bounced: 'mail came back',
  complained: 'complained',
  sequence_finished: 'sequence finished',
  manual: 'by hand',
};

function Next({ project, of }: { project: string; of: Enrollment }) {
  if (of.waits_for !== null)
    return <a href={hrefOf(to`/projects/${project}/emails/${of.waits_for}`)}>when its mail has ended</a>;
  if (of.state === 'active') return <Time at={of.next_at} />;
  if (of.state === 'completed') return <span class="muted">nothing more comes</span>;
  return <span>{of.error ?? LEFT[of.exit_reason ?? ''] ?? of.exit_reason}</span>;
}
