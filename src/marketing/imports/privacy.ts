/** What imports hold about an address that did not get on the list, and forgetting it. */

import type { Database } from '../../platform/database/database.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { contactAddress } from '../contacts/service.ts';
import { readAddress } from './addresses.ts';
import { cellsOf } from './columns.ts';
import * as store from './store.ts';

/** Rows that are looked at before others have their turn: a millisecond or two. */
const PIECE = 500;

/**
 * Takes part in telling and forgetting what is held about an address: rows that were not taken, and those
 * that wait for the DNS. However a file writes the address, it is found: by a walk of all these rows.
 */
export function importsHolder(database: Pick<Database, 'read'>): AddressHolder {
  return {
    name: 'import_rows',
    *find({ id: project_id }, email) {
      // A domain may be written in other letters than those it is stored in; before the @ there is one way alone.
      const local = email.slice(0, email.lastIndexOf('@') + 1);
      const holds = (text: string): boolean => {
        const lower = text.toLowerCase();
        return (
          lower.includes(local) &&
          (lower.includes(email) || contactAddress(readAddress(text).email)?.email === email)
        );
      };
      for (const id of store.listImportIds(database.read, project_id)) {
        for (const rows of piecesOf((after_row) => store.listRejections(database.read, id, after_row, PIECE)))
          yield rows
            .filter((row) => holds(row.email))
            .map((row) => ({
              show: () => row,
              forget: (tx) => store.deleteRejection(tx, row.import_id, row.row_number),
            }));
        for (const rows of piecesOf((after_row) => store.listWaiting(database.read, id, after_row, PIECE)))
          yield rows
            .filter(({ fields }) => cellsOf(fields).some(holds))
            .map((row) => ({
              show: () => {
                const { fields, ...place } = row;
                return { ...place, cells: cellsOf(fields), reason: null };
              },
              forget: (tx) => store.emptyWaiting(tx, row),
            }));
      }
    },
  };
}

function* piecesOf<Row extends { row_number: number }>(read: (after_row: number) => Row[]): Generator<Row[]> {
  for (let after_row = 0; ; ) {
    const rows = read(after_row);
    const last = rows.at(-1);
    if (!last) return;
    after_row = last.row_number;
    yield rows;
  }
}
