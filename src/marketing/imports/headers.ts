/** What columns are called, in the languages of the public pages, and what becomes of each. Pure functions. */
import { MAX_CUSTOM_FIELD_NAME_CHARS, MAX_CUSTOM_FIELDS } from '../../limits.ts';
import { readCell } from '../../platform/http/csv.ts';
import { countCodePoints } from '../../platform/http/schema.ts';
import { plain, statusColumnOf } from './statuses.ts';

/** What a column may be. */
export const MAPPABLE_FIELDS = [
  'email',
  'first_name',
  'last_name',
  'tags',
  'source',
  'reason',
  'consent_basis',
  'tracking',
  'status',
] as const;
export type MappableField = (typeof MAPPABLE_FIELDS)[number];
/** One column may be one of these; any number of them may tell a status. */
export type ContactField = Exclude<MappableField, 'status'>;

/** Why a column becomes nothing. The API names columns by their headers. */
export const LEFT_OUT_REASONS = ['no_name', 'name_too_long', 'repeated', 'too_many', 'ours'] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** What becomes of a column: a field, a custom field of its name, nothing for a reason, or nothing as was asked for. */
export interface ColumnFate {
  /** As `readCell` has it. */
  header: string;
  field: MappableField | null;
  is_kept: boolean;
  left_out: LeftOutReason | null;
}

/**
 * Headers as people and the programs they come from write them (Excel, Outlook, Mailchimp, Brevo), in English, German, French and
 * Spanish: in small letters, without accents, blanks and marks. The bases of consent and of tracking have English names alone, as
 * their values do.
 */
const USUAL_HEADERS: Readonly<Record<ContactField, string>> = {
  email:
    'email emails emailaddress mail mailaddress emailadresse mailadresse adresseemail adressemail adresseelectronique ' +
    'adressedemessagerie courriel adressecourriel correo correos correoelectronico direccioncorreo direcciondecorreo ' +
    'direccioncorreoelectronico direcciondecorreoelectronico direccionemail direcciondeemail',
  first_name: 'firstname givenname forename vorname rufname prenom nombre nombres nombredepila primernombre',
  last_name:
    'lastname surname familyname nachname familienname zuname nom nomdefamille apellido apellidos primerapellido',
  tags: 'tags tag schlagworte schlagworter schlagwort stichworte stichworter etiketten etiquettes etiquette motscles etiquetas etiqueta',
  source: 'source quelle herkunft origine provenance origen fuente procedencia',
  reason: 'reason grund anlass raison motif motivo razon',
  consent_basis: 'consentbasis',
  tracking: 'tracking',
};
const FIELD_BY_HEADER = new Map(
  Object.entries(USUAL_HEADERS).flatMap(([field, headers]) =>
    headers.split(' ').map((header) => [header, MAPPABLE_FIELDS.find((one) => one === field)]),
  ),
);

/** What an export of contacts has and no import sets. */
const OURS =
  'id list contact_token consent_at consent_ip consent_origin source_platform confirmed_at tracking_evidence paused_until created_at updated_at';
/** What a file of rejected rows begins with. */
export const REJECTED_HEADERS: readonly string[] = ['row_number', 'email', 'reason'];
/** Of these, what tells of the row. */
const REJECTED_MARKS: readonly number[] = [0, 2];

/** Which columns tell of a contact as we exported it, and which of a rejected row: that can be no field at all. */
function listOurs(headers: readonly string[]): ('export' | 'rejected' | null)[] {
  const is_export = headers.includes('contact_token') && headers.includes('consent_basis');
  const own = new Set(withoutRejectedHeaders(headers));
  return headers.map((header, place) => {
    if (!own.has(place)) return 'rejected';
    return is_export && OURS.split(' ').includes(header) ? 'export' : null;
  });
}

/** The places of a file's own columns: a file of rejected rows is the one that they came from, with marks of ours. */
export function withoutRejectedHeaders(headers: readonly string[]): number[] {
  const is_rejected = REJECTED_HEADERS.every((header, place) => headers[place]?.trim() === header);
  return headers.flatMap((_, place) => (is_rejected && REJECTED_MARKS.includes(place) ? [] : [place]));
}

/** The field that a header usually means, or null. */
function fieldOf(header: string): MappableField | null {
  return statusColumnOf(header) ? 'status' : (FIELD_BY_HEADER.get(plain(header)) ?? null);
}

/** What a custom field is called: our exports say `custom.` before its name. */
export function customNameOf(header: string): string {
  return header.replace(/^custom\.(?=.)/s, '');
}

/** One field a column, the first that looks like it: any other is a column like all the rest, unless it tells a status. */
export function recogniseFields(given: readonly string[]): (MappableField | null)[] {
  const headers = given.map(readCell);
  const ours = listOurs(headers);
  const found = headers.map((header, place) => (ours[place] ? null : fieldOf(header)));
  const fields = found.map((field, place) =>
    field === 'status' || found.indexOf(field) === place ? field : null,
  );
  // `Vorname, Name`: beside a first name it is the last one; alone it is all of a name, which no field is.
  const name = headers.findIndex((header) => plain(header) === 'name');
  if (name >= 0 && fields.includes('first_name') && !fields.includes('last_name')) fields[name] = 'last_name';
  return fields;
}

/**
 * What becomes of each column: the field that it is, or a custom field of its name: of those that are asked for, where that is said.
 * At most 50 are kept.
 */
export function fatesOf(
  headers: readonly string[],
  fields: readonly (MappableField | null)[],
  asked: readonly string[] | null = null,
): ColumnFate[] {
  const read = headers.map(readCell);
  const ours = listOurs(read);
  const seen = new Set<string>();
  const kept = new Set<string>();
  return read.map((header, place): ColumnFate => {
    const field = fields[place] ?? null;
    const name = customNameOf(header);
    const fate = { header, field, is_kept: false, left_out: null };
    const is_wanted = ours[place] === 'export' && (field !== null || asked?.includes(header));
    if (ours[place] && !is_wanted) return { ...fate, left_out: 'ours' };
    const is_repeated = seen.has(header) || kept.has(name);
    seen.add(header);
    if (field !== null || (asked && !asked.includes(header))) return fate;
    if (header === '') return { ...fate, left_out: 'no_name' };
    if (is_repeated) return { ...fate, left_out: 'repeated' };
    if (countCodePoints(name) > MAX_CUSTOM_FIELD_NAME_CHARS) return { ...fate, left_out: 'name_too_long' };
    if (kept.size === MAX_CUSTOM_FIELDS) return { ...fate, left_out: 'too_many' };
    kept.add(name);
    return { ...fate, is_kept: true };
  });
}
