/** What imports hold about an address that did not get on the list, and forgetting it. */

import type { Tx } from '../../platform/database/database.ts';
import { contactAddress } from '../contacts/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import { cellsOf } from './columns.ts';
import * as store from './store.ts';

/**
 * Takes part in telling and forgetting what is held about an address: rows that were not taken, and those
 * that wait for the DNS. However a file writes the address, it is found.
 */
export const importsHolder = {
  name: 'import_rows',
  export(read: Tx, owner: KeyOwner, email: string): unknown[] {
    const { rejected, waiting } = find(read, owner.id, email);
    return [
      ...rejected,
      ...waiting.map(({ fields, ...row }) => ({ ...row, cells: cellsOf(fields), reason: null })),
    ];
  },
  forget(tx: Tx, project_id: number, email: string): number {
    const { rejected, waiting } = find(tx, project_id, email);
    for (const row of rejected) store.emptyRejection(tx, row);
    for (const row of waiting) store.emptyWaiting(tx, row);
    return rejected.length + waiting.length;
  },
};

function find(read: Tx, project_id: number, email: string) {
  // A domain may be written in other letters than those it is stored in; before the @ there is one way alone.
  const local = email.slice(0, email.lastIndexOf('@') + 1);
  const holds = (text: string): boolean =>
    contactAddress(text)?.email === email || text.toLowerCase().includes(email);
  return {
    rejected: store.listRejectionsHolding(read, project_id, local).filter((row) => holds(row.email)),
    waiting: store
      .listWaitingHolding(read, project_id, local)
      .filter(({ fields }) => cellsOf(fields).some(holds)),
  };
}
