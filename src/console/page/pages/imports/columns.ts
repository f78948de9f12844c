/** Fields for the columns of a file: as the service proposes, the person changes and the API takes them. Pure functions. */
import type { ImportColumn } from '../../api.generated.ts';

/** A field of a contact, by the API's name. */
export const FIELDS = {
  email: 'Email',
  first_name: 'First name',
  last_name: 'Last name',
  tags: 'Tags',
  source: 'Source',
  reason: 'Reason',
  consent_basis: 'Basis of consent',
  tracking: 'Whether clicks are counted',
  status: 'Status',
} as const;

/** A field in words; one that is new here by the API's name. */
export function nameOf(field: string): string {
  return Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof typeof FIELDS] : field;
}

/** Kept as a custom field under its header. */
export const KEEP = 'keep';
/** '' is left out. */
export type Target = keyof typeof FIELDS | typeof KEEP | '';

export function readTarget(value: string): Target {
  return value === KEEP || Object.hasOwn(FIELDS, value) ? (value as Target) : '';
}

export function targetOf({ field, is_kept }: ImportColumn): Target {
  return is_kept ? KEEP : readTarget(field ?? '');
}

/** The custom field of a column: an export has `custom.` before its name. */
export function customNameOf(header: string): string {
  return header.replace(/^custom\.(?=.)/, '');
}

/** Why a column can't be taken; the API names columns by their headers. */
export const LEFT_OUT: Readonly<Record<NonNullable<ImportColumn['left_out']>, string>> = {
  no_name: 'Left out: it has no name.',
  name_too_long: 'Left out: its name has more than 100 characters.',
  repeated: 'Left out: another column has this name.',
  too_many: 'Left out: a contact has 50 custom fields at most.',
  ours: 'Left out: Satchel sets it itself.',
};

/** The fault of a choice as a whole, in words; null where it has none. */
export function refusalOfChoice(targets: readonly Target[]): string | null {
  if (!targets.includes('email')) return 'Say which column holds the email addresses.';
  const fields = targets.flatMap((target) =>
    target === '' || target === KEEP || target === 'status' ? [] : [target],
  );
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  return twice === undefined ? null : `Only one column can be the field ${FIELDS[twice]}.`;
}

export function mapOf(
  columns: readonly ImportColumn[],
  targets: readonly Target[],
): { column_map: Record<string, string>; keep_columns: string[] } {
  const chosen = columns.map(({ header }, index) => ({ header, target: targets[index] ?? '' }));
  return {
    column_map: Object.fromEntries(
      chosen.flatMap(({ header, target }) => (target === KEEP || target === '' ? [] : [[header, target]])),
    ),
    keep_columns: chosen.flatMap(({ header, target }) => (target === KEEP ? [header] : [])),
  };
}
