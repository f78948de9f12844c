/** How the shell finds sequences: finished ones only where no other fits. */
import { createNaming, type Naming } from '../../platform/cli/naming.ts';
import type { Database } from '../../platform/database/database.ts';
import * as store from './store.ts';

export function sequenceNaming({ database }: { database: Database }): Naming {
  return createNaming(
    'sequence',
    {
      byId: (id) => store.findAnySequence(database.read, id),
      called: (project_id, name) => store.listSequencesCalled(database.read, project_id, name),
    },
    (row) => ({ key: row.public_id, id: row.public_id, is_over: row.status === 'finished' }),
  );
}
