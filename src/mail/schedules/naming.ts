/** How the shell finds schedules: by id or name. */
import { createNaming, type Naming } from '../../platform/cli/naming.ts';
import type { Database } from '../../platform/database/database.ts';
import { findAnySchedule, listSchedulesCalled } from './store.ts';

export function scheduleNaming({ database }: { database: Database }): Naming {
  return createNaming(
    'schedule',
    {
      byId: (id) => findAnySchedule(database.read, id),
      called: (project_id, name) => listSchedulesCalled(database.read, project_id, name),
    },
    ({ id }) => ({ key: id, id, is_over: false }),
  );
}
