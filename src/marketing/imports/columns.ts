/** Which column of a file is which field of a contact, and how a row becomes a candidate. Pure functions. */

import { type FieldErrors, refuseAll } from '../../errors.ts';
import {
  MAX_CONTACT_REASON_CHARS,
  MAX_CONTACT_SOURCE_CHARS,
  MAX_CONTACT_TAGS,
  MAX_CUSTOM_FIELD_NAME_CHARS,
  MAX_CUSTOM_FIELDS,
  MAX_CUSTOM_VALUE_CHARS,
  MAX_NAME_CHARS,
  MAX_TAG_CHARS,
} from '../../limits.ts';
import { readCell, readItems } from '../../platform/http/csv.ts';
import type { Candidate } from '../contacts/service.ts';
import { readAddress } from './addresses.ts';
import {
  type ColumnFate,
  type ContactField,
  customNameOf,
  fatesOf,
  type LeftOutReason,
  MAPPABLE_FIELDS,
  type MappableField,
  recogniseFields,
  withoutRejectedHeaders,
} from './headers.ts';
import type { WaitingFields } from './schemas.ts';
import { type StatusColumn, standingOf, statusColumnOf, trackingIn } from './statuses.ts';

/** Places of columns in a row, counted from 0. */
export interface Columns {
  fields: Partial<Record<ContactField, number>>;
  /** Those that tell whether the person may be mailed. */
  statuses: { place: number; tells: StatusColumn }[];
  /** Custom field -> column. */
  kept: Record<string, number>;
  /** Header -> field, of those above. */
  named: Record<string, string>;
  /** What becomes nothing, the first of them; columns are counted from 1. */
  left_out: { column: number; header: string; reason: LeftOutReason }[];
}

/** Of a paste without a header. */
export const NO_COLUMNS: Columns = { fields: {}, statuses: [], kept: {}, named: {}, left_out: [] };
/** So many are told, of a header that may have thousands. */
const MAX_LEFT_OUT_TOLD = 50;
const MAX_UNKNOWN_WORD_CHARS = 64;

/** Defaults for rows that don't have the column. */
export interface ImportDefaults {
  consent_basis: string | null;
  source_platform: string;
  tags: string[];
}

/**
 * The columns of a file. What is no field becomes a custom field under its header, unless `keep_columns` says which do. Throws
 * AppError `invalid`: under `column_map` and `keep_columns` for headers that the file does not have and fields that there are not,
 * under `object` where no column holds email addresses.
 */
export function findColumns(
  headers: readonly string[],
  wanted: {
    column_map: Readonly<Record<string, string>> | null;
    keep_columns: readonly string[] | null;
  },
): Columns {
  const errors: FieldErrors = {};
  const read = headers.map(readCell);
  const fields = wanted.column_map ? mapColumns(read, wanted.column_map, errors) : recogniseFields(read);
  const asked = wanted.keep_columns?.map(readCell) ?? null;
  asked?.forEach((header, index) => {
    if (!read.includes(header))
      errors[`keep_columns.${index}`] = ['must be the header of a column of the file'];
  });
  const asked_for = new Set(asked).size;
  if (asked_for > MAX_CUSTOM_FIELDS)
    errors.keep_columns = [`at most ${MAX_CUSTOM_FIELDS} (got ${asked_for})`];
  if (Object.keys(errors).length === 0 && !fields.includes('email'))
    errors[wanted.column_map ? 'column_map' : 'object'] = [
      'no column holds email addresses: the first row must name one `email`, or column_map must say which it is',
    ];
  refuseAll(errors);
  return columnsOf(fatesOf(read, fields, asked), asked ?? []);
}

/** `also` are headers that become custom fields where they are fields, too. */
export function columnsOf(fates: readonly ColumnFate[], also: readonly string[] = []): Columns {
  const places = fates.map((fate, place) => ({ ...fate, place }));
  const kept = places.filter(
    ({ header, field, is_kept }) => is_kept || (field !== null && also.includes(header)),
  );
  return {
    fields: Object.fromEntries(
      places.flatMap(({ field, place }) => (field === null || field === 'status' ? [] : [[field, place]])),
    ),
    statuses: places.flatMap(({ field, header, place }) =>
      field === 'status' ? [{ place, tells: statusColumnOf(header) ?? 'state' }] : [],
    ),
    kept: Object.fromEntries(kept.map(({ header, place }) => [customNameOf(header), place])),
    named: Object.fromEntries(
      places.flatMap(({ field, header }) => (field === null ? [] : [[header, field]])),
    ),
    left_out: places
      .flatMap(({ left_out, header, place }) =>
        left_out === null
          ? []
          : [{ column: place + 1, header: cut(header, MAX_CUSTOM_FIELD_NAME_CHARS), reason: left_out }],
      )
      .slice(0, MAX_LEFT_OUT_TOLD),
  };
}

function mapColumns(
  headers: readonly string[],
  column_map: Readonly<Record<string, string>>,
  errors: FieldErrors,
): (MappableField | null)[] {
  const fields: (MappableField | null)[] = headers.map(() => null);
  const own = withoutRejectedHeaders(headers);
  for (const [header, field] of Object.entries(column_map)) {
    const place = own.find((each) => headers[each] === readCell(header)) ?? -1;
    const name = `column_map.${cut(header, MAX_CUSTOM_FIELD_NAME_CHARS)}`;
    const known = MAPPABLE_FIELDS.find((one) => one === field);
    if (known === undefined) errors[name] = [`must be one of: ${MAPPABLE_FIELDS.join(', ')}`];
    else if (place < 0) errors[name] = ['the file has no column with this header'];
    else if (known !== 'status' && fields.includes(known))
      errors[name] = [`another column is ${known} already`];
    else fields[place] = known;
  }
  return fields;
}

/** The places in the cells of a row that was pasted. */
export const PASTED_COLUMNS: Columns = {
  ...NO_COLUMNS,
  fields: { email: 0, first_name: 1, last_name: 2 },
};

/** The cells of a row that waits, whether it stood in a file or was pasted. */
export function cellsOf(fields: WaitingFields): string[] {
  return 'cells' in fields ? fields.cells : [fields.email, fields.first_name ?? '', fields.last_name ?? ''];
}

/** A row as a candidate; values that are too long for their field are cut. */
export function candidateOf(
  cells: readonly string[],
  columns: Columns,
  defaults: ImportDefaults,
  now_ms: number,
): Omit<Candidate, 'is_test'> {
  const cell = (field: ContactField): string | null => {
    const place = columns.fields[field];
    return (place === undefined ? null : readCell(cells[place] ?? '')) || null;
  };
  // A header may be any word, such as `__proto__`.
  const custom = Object.fromEntries(
    Object.entries(columns.kept).flatMap(([name, place]) => {
      const value = readCell(cells[place] ?? '');
      return value ? [[name, cut(value, MAX_CUSTOM_VALUE_CHARS)]] : [];
    }),
  );
  const address = readAddress(cell('email') ?? '');
  const named = { first_name: cell('first_name'), last_name: cell('last_name') };
  const { first_name, last_name } = (named.first_name ?? named.last_name) ? named : address;
  const tags = readItems(cell('tags') ?? '').map((tag) => cut(tag.trim(), MAX_TAG_CHARS));
  const tracking = trackingIn(cell('tracking') ?? '');
  const { no, unknown } = standingOf(statusesIn(cells, columns));
  return {
    email: address.email,
    first_name: cutOrNull(first_name, MAX_NAME_CHARS),
    last_name: cutOrNull(last_name, MAX_NAME_CHARS),
    tags: [...new Set([...defaults.tags, ...tags.filter((tag) => tag !== '')])].slice(0, MAX_CONTACT_TAGS),
    custom,
    source: cutOrNull(cell('source'), MAX_CONTACT_SOURCE_CHARS),
    reason: cutOrNull(cell('reason'), MAX_CONTACT_REASON_CHARS),
    source_platform: defaults.source_platform,
    consent_basis: cell('consent_basis')?.toLowerCase() ?? defaults.consent_basis,
    consent_at: now_ms,
    consent_ip: null,
    consent_origin: null,
    tracking: tracking && { tracking, by: 'import' },
    objection: no ?? (unknown.length > 0 ? 'unclear' : null),
  };
}

/** What stands in a row where a known word of a status or of `tracking` would be; nothing that may be an address. */
export function unknownWordsIn(cells: readonly string[], columns: Columns): string[] {
  const tracking = readCell(cells[columns.fields.tracking ?? cells.length] ?? '');
  const { unknown } = standingOf(statusesIn(cells, columns));
  return [...unknown, ...(tracking !== '' && trackingIn(tracking) === null ? [tracking] : [])]
    .filter((word) => !word.includes('@'))
    .map((word) => cut(word, MAX_UNKNOWN_WORD_CHARS));
}

function statusesIn(cells: readonly string[], { statuses }: Columns) {
  return statuses.map(({ place, tells }) => ({ tells, cell: readCell(cells[place] ?? '') }));
}

function cutOrNull(value: string | null, max: number): string | null {
  return value === null ? null : cut(value, max);
}

/** Up to `max` code points. */
function cut(value: string, max: number): string {
  return value.length <= max ? value : [...value].slice(0, max).join('');
}
