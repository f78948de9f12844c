/** How the shell finds broadcasts: what is sent or cancelled only where no other fits. */
import { createNaming, type Naming } from '../../platform/cli/naming.ts';
import type { Database } from '../../platform/database/database.ts';
import * as store from './store.ts';

export function broadcastNaming({ database }: { database: Database }): Naming {
  return createNaming(
    'broadcast',
    {
      byId: (id) => store.findAnyBroadcast(database.read, id),
      called: (project_id, name) => store.listBroadcastsCalled(database.read, project_id, name),
    },
    (row) => ({
      key: row.public_id,
      id: row.public_id,
      is_over: row.status === 'sent' || row.status === 'cancelled',
    }),
  );
}
