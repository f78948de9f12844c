/** What columns are called, in the languages of the public pages, and what becomes of each. Pure functions. */
import { MAX_CUSTOM_FIELD_NAME_CHARS, MAX_CUSTOM_FIELDS } from '../../limits.ts';
import { countCodePoints } from '../../platform/http/schema.ts';

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
] as const;
export type MappableField = (typeof MAPPABLE_FIELDS)[number];

/** Why a column becomes nothing. The API names columns by their headers. */
export const LEFT_OUT_REASONS = ['no_name', 'name_too_long', 'repeated', 'too_many'] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** What becomes of a column: a field, a custom field of its name, nothing for a reason, or nothing as was asked for. */
export interface ColumnFate {
  /** Without blanks around it. */
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
const USUAL_HEADERS: Readonly<Record<MappableField, string>> = {
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
  MAPPABLE_FIELDS.flatMap((field) => USUAL_HEADERS[field].split(' ').map((header) => [header, field])),
);

/** The field that a header usually means, or null. */
function fieldOf(header: string): MappableField | null {
  return FIELD_BY_HEADER.get(plain(header)) ?? null;
}

/** `E-Mail-Adresse`, `Prénom` and `CORREO ELECTRÓNICO` as they stand above. */
function plain(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]/gu, '');
}

/** One field a column, the first that looks like it: any other is a column like all the rest. */
export function recogniseFields(headers: readonly string[]): (MappableField | null)[] {
  const found = headers.map(fieldOf);
  const fields = found.map((field, place) => (found.indexOf(field) === place ? field : null));
  // `Vorname, Name`: beside a first name it is the last one; alone it is all of a name, which no field is.
  const name = headers.findIndex((header) => plain(header) === 'name');
  if (name >= 0 && fields.includes('first_name') && !fields.includes('last_name')) fields[name] = 'last_name';
  return fields;
}

/**
 * What becomes of each column: the field that it is, or a custom field under its header unless `isKept` says no. At most 50 are
 * kept.
 */
export function fatesOf(
  headers: readonly string[],
  fields: readonly (MappableField | null)[],
  isKept: (header: string) => boolean = () => true,
): ColumnFate[] {
  const trimmed = headers.map((header) => header.trim());
  const seen = new Set<string>();
  let kept = 0;
  return trimmed.map((header, place): ColumnFate => {
    const field = fields[place] ?? null;
    const is_repeated = seen.has(header);
    seen.add(header);
    const fate = { header, field, is_kept: false, left_out: null };
    if (field !== null || !isKept(header)) return fate;
    if (header === '') return { ...fate, left_out: 'no_name' };
    if (is_repeated) return { ...fate, left_out: 'repeated' };
    if (countCodePoints(header) > MAX_CUSTOM_FIELD_NAME_CHARS) return { ...fate, left_out: 'name_too_long' };
    if (kept === MAX_CUSTOM_FIELDS) return { ...fate, left_out: 'too_many' };
    kept += 1;
    return { ...fate, is_kept: true };
  });
}
