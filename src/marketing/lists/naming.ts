/** How the shell finds lists: archived ones only where no other fits. */
import { createNaming, type Naming } from '../../platform/cli/naming.ts';
import type { Database } from '../../platform/database/database.ts';
import * as store from './store.ts';

export function listNaming({ database }: { database: Database }): Naming {
  return createNaming(
    'list',
    {
      byId: (id) => store.findAnyList(database.read, id),
      called: (project_id, name) => store.listListsCalled(database.read, project_id, name),
    },
    (row) => ({ key: row.public_id, id: row.public_id, is_over: row.archived_at !== null }),
  );
}
