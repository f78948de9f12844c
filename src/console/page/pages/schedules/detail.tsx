/** One schedule: when it runs next and how it ran last; running it now, pausing, changing and deleting it. */
import type { ScheduleWithRuns } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { type Load, useLoad } from '../../use-load.ts';
import { NextRuns, ScheduleFacts } from './overview.tsx';
import { ScheduleFields, scheduleOf } from './schedule-fields.tsx';

const SCHEDULE = '/projects/{project}/email-schedules/{id}';
const TABS = { overview: 'Overview', change: 'Change' } as const;

interface Part {
  path: { project: string; id: string };
  load: Load<ScheduleWithRuns>;
  of: ScheduleWithRuns;
}

export default function SchedulePage({ params }: PageProps<'project' | 'schedule'>) {
  const path = { project: params.project, id: params.schedule };
  const load = useLoad(`GET ${SCHEDULE}`, { path }, { looks_again: true });
  const tab = useTab(['overview', 'change']);
  const schedule = load.data;
  return (
    <>
      <PageHeader
        title={schedule?.name ?? 'Schedule'}
        back={{ href: hrefOf(to`/projects/${params.project}/schedules`), label: 'Schedules' }}
        beside={schedule && <Status of={schedule.is_active ? 'active' : 'paused'} />}
        lead={schedule?.description}
        actions={schedule && <Acts path={path} load={load} of={schedule} />}
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) =>
          tab === 'change' ? (
            <ChangeForm path={path} load={load} of={of} />
          ) : (
            <div class="stack">
              <div class="columns">
                <NextRuns of={of} />
                <ScheduleFacts project={params.project} of={of} />
              </div>
              <End path={path} of={of} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function Acts({ path, load, of }: Part) {
  const run = async (): Promise<void> => {
    const people = counted(of.recipients.length, 'person');
    await askFirst({
      title: `Mail ${people} now?`,
      submit: `Mail ${people}`,
      told: (
        <p>
          At once and besides its next run, which stays when it is. A mail that is sent cannot be taken back.
        </p>
      ),
    });
    const { job_id } = await call(`POST ${SCHEDULE}/run`, { path });
    toast('The run is queued');
    navigate(to`/projects/${path.project}/jobs/${job_id}`);
  };
  const turn = async (): Promise<void> => {
    await call(`PATCH ${SCHEDULE}`, {
      path,
      body: { is_active: !of.is_active },
      if_match: load.etag,
    }).finally(load.reload);
  };
  return (
    <>
      <ActionButton act={turn} done={of.is_active ? 'It is paused' : 'It runs again'}>
        {of.is_active ? 'Pause' : 'Resume'}
      </ActionButton>
      <ActionButton act={run} kind="primary">
        Run now
      </ActionButton>
    </>
  );
}

function ChangeForm({ path, load, of }: Part) {
  const change = async (entered: Entered): Promise<void> => {
    await call(`PATCH ${SCHEDULE}`, { path, body: scheduleOf(entered), if_match: entered.version });
    toast('The changes are saved');
    load.reload();
  };
  return (
    <Panel>
      <Form is_wide submit="Save the changes" onSubmit={change} version={load.etag}>
        <ScheduleFields project={path.project} of={of} />
      </Form>
    </Panel>
  );
}

function End({ path, of }: Pick<Part, 'path' | 'of'>) {
  const remove = async (): Promise<void> => {
    await call(`DELETE ${SCHEDULE}`, { path });
    toast(`Schedule ${of.name} is deleted`);
    navigate(to`/projects/${path.project}/schedules`, { replace: true });
  };
  return (
    <Ending title="Delete the schedule" lead="Mails of its runs stay in the log." name={of.name} act={remove}>
      It runs no more, and cannot be brought back. Mails that were accepted are sent all the same.
    </Ending>
  );
}
