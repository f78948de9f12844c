/** The schedules of a project: mails that go out again and again. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useList, useLoad } from '../../use-load.ts';
import { tellCadence } from './cadence.ts';

export default function SchedulesPage({ params }: PageProps<'project'>) {
  const templates = useLoad('GET /projects/{project}/email-templates', { path: params });
  const list = useList(
    'GET /projects/{project}/email-schedules',
    { path: params },
    { filters: ['template'] },
  );
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/schedules/new`)}>
      <Icon name="plus" />
      New schedule
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Schedules"
        lead="Mails that go out again and again by themselves, at the hours of a time zone."
        actions={create}
      />
      <Filters>
        <ChoiceFilter
          name="template"
          label="Template"
          choices={templates.data?.data.map(({ slug }) => slug) ?? []}
        />
      </Filters>
      <DataTable
        label="Schedules"
        list={list}
        keyOf={(schedule) => schedule.id}
        href={(schedule) => hrefOf(to`/projects/${params.project}/schedules/${schedule.id}`)}
        columns={[
          { title: 'Name', cell: (schedule) => schedule.name },
          {
            title: 'When',
            cell: (schedule) => (
              <>
                {tellCadence(schedule.cron_expression) ?? <code>{schedule.cron_expression}</code>}
                <span class="cell-note">{schedule.timezone}</span>
              </>
            ),
          },
          {
            title: 'Recipients',
            is_number: true,
            cell: (schedule) => <Count of={schedule.recipients.length} />,
          },
          {
            title: 'Status',
            cell: (schedule) => <Status of={schedule.is_active ? 'active' : 'paused'} />,
          },
          { title: 'Next run', cell: (schedule) => <Time at={schedule.next_run_at} /> },
          {
            title: 'Last run',
            cell: (schedule) => (schedule.last_status ? <Status of={schedule.last_status} /> : '—'),
          },
        ]}
        empty={
          <Empty drawing="mail" title="No schedule yet">
            <p>A weekly report, a reminder on the first of the month: say when, to whom, and what.</p>
            {create}
          </Empty>
        }
      />
    </>
  );
}
