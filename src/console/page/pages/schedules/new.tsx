/** Making a schedule. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { ScheduleFields, scheduleOf } from './schedule-fields.tsx';

export default function NewSchedulePage({ params }: PageProps<'project'>) {
  const list = to`/projects/${params.project}/schedules`;
  const create = async (entered: Entered): Promise<void> => {
    const { name, cron_expression, recipients, ...rest } = scheduleOf(entered);
    const given = Object.entries(rest).filter(([, value]) => value !== null);
    const schedule = await call('POST /projects/{project}/email-schedules', {
      path: params,
      body: { name, cron_expression, recipients, ...Object.fromEntries(given) },
    });
    toast(`Schedule ${schedule.name} is made`);
    navigate(to`/projects/${params.project}/schedules/${schedule.id}`);
  };
  return (
    <>
      <PageHeader title="New schedule" back={{ href: hrefOf(list), label: 'Schedules' }} />
      <Panel>
        <Form is_wide submit="Create the schedule" onSubmit={create} onCancel={() => navigate(list)}>
          <ScheduleFields project={params.project} />
        </Form>
      </Panel>
    </>
  );
}
