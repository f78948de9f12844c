/** Contacts of a list as a table: the fields of their records, then each custom field that somebody has. */
import { invalid } from '../../errors.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { CsvTable } from '../../platform/http/csv.ts';
import type { Criteria } from './filter-members-store.ts';
import { type FindingDeps, piecesOf } from './finding.ts';
import { type ContactRecord, FIELDS } from './schemas.ts';
import * as store from './store.ts';

/** Columns of an export: spreadsheets take up to some thousands, of which LibreOffice once took 1,024. */
const MAX_EXPORTED_CUSTOM_FIELDS = 1_000;

/** Rows that are read and written out at once: some three milliseconds. */
const EXPORT_PIECE = 100;

// One column each, but for custom fields.
const COLUMNS = Object.keys(FIELDS).filter((field) => field !== 'custom') as (keyof ContactRecord)[];

/**
 * Those that fit, newest first. They are gone through twice, first for the names of their custom fields.
 * Throws AppError `invalid` where these are more than a spreadsheet is good for.
 */
export async function exportContacts(
  on: FindingDeps,
  list_id: number,
  criteria: Criteria,
  presentAll: (ids: readonly number[]) => ContactRecord[],
): Promise<CsvTable> {
  const found = new Set<string>();
  for (const ids of piecesOf(on, list_id, criteria, { order: 'newest' })) {
    for (const name of store.listCustomNames(on.database.read, ids)) found.add(name);
    if (found.size > MAX_EXPORTED_CUSTOM_FIELDS)
      throw invalid({
        _: [
          `These contacts have more than ${MAX_EXPORTED_CUSTOM_FIELDS} custom fields between them: export them in parts, by a filter.`,
        ],
      });
    await letOthers();
  }
  const names = [...found].sort();
  const rowOf = (record: ContactRecord): unknown[] => [
    ...COLUMNS.map((field) => record[field]),
    ...names.map((name) => (Object.hasOwn(record.custom, name) ? record.custom[name] : null)),
  ];
  return {
    columns: [...COLUMNS, ...names.map((name) => `custom.${name}`)],
    pieces: (function* () {
      for (const ids of piecesOf(on, list_id, criteria, { order: 'newest', size: EXPORT_PIECE }))
        yield presentAll(ids).map(rowOf);
    })(),
  };
}
