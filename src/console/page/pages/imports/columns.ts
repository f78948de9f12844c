/** What the columns of a file become: guessed from their headers, chosen by the person, sent as the API takes it. Pure functions. */

/** A field of a contact, by the API's name. */
export const FIELDS = {
  email: 'Email',
  first_name: 'First name',
  last_name: 'Last name',
  tags: 'Tags',
  source: 'Source',
  reason: 'Reason',
  consent_basis: 'Basis of consent',
} as const;

/** Kept as a custom field under its header. */
export const KEEP = 'keep';
/** '' is left out. */
export type Target = keyof typeof FIELDS | typeof KEEP | '';

const USUAL: Readonly<Record<string, Target>> = {
  emailaddress: 'email',
  mail: 'email',
  givenname: 'first_name',
  surname: 'last_name',
  familyname: 'last_name',
  tag: 'tags',
};

/** The field that a header usually means. */
function guess(header: string): Target {
  const plain = header.toLowerCase().replace(/[\s_-]/g, '');
  const named = Object.keys(FIELDS).find((field) => field.replace('_', '') === plain);
  return readTarget(named ?? (Object.hasOwn(USUAL, plain) ? (USUAL[plain] ?? '') : ''));
}

export function readTarget(value: string): Target {
  return value === KEEP || Object.hasOwn(FIELDS, value) ? (value as Target) : '';
}

/** One target a column; a field goes to the first column that looks like it. */
export function guessTargets(headers: readonly string[]): Target[] {
  const guesses = headers.map(guess);
  return guesses.map((target, index) => (guesses.indexOf(target) === index ? target : ''));
}

/** Why a column cannot be taken; the API names columns by their headers. */
export function refusalOf(headers: readonly string[], index: number): string | null {
  const header = headers[index] ?? '';
  if (header === '') return 'Without a name it cannot be taken.';
  return headers.indexOf(header) === index ? null : 'Another column has this name.';
}

/** What is wrong with a choice as a whole, in words; null where nothing is. */
export function refusalOfChoice(targets: readonly Target[]): string | null {
  if (!targets.includes('email')) return 'Say which column holds the email addresses.';
  const fields = targets.flatMap((target) => (target === '' || target === KEEP ? [] : [target]));
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  return twice === undefined ? null : `Only one column can be the field ${FIELDS[twice]}.`;
}

export function mapOf(
  headers: readonly string[],
  targets: readonly Target[],
): { column_map: Record<string, string>; keep_columns: string[] } {
  const chosen = headers.flatMap((header, index) => {
    const target = targets[index] ?? '';
    return target === '' || refusalOf(headers, index) !== null ? [] : [{ header, target }];
  });
  return {
    column_map: Object.fromEntries(
      chosen.flatMap(({ header, target }) => (target === KEEP ? [] : [[header, target]])),
    ),
    keep_columns: chosen.flatMap(({ header, target }) => (target === KEEP ? [header] : [])),
  };
}
