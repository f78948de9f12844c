/** A contact as clients see it, and why an address is not taken, in words. */
import { AppError } from '../../errors.ts';
import { present } from '../../platform/http/fields.ts';
import type { Admission, Rejection } from './pipeline.ts';
import { type ContactRecord, FIELDS } from './schemas.ts';
import type { ContactRow } from './tables.ts';

const REJECTED: Readonly<Record<Rejection, string>> = {
  invalid_syntax: 'The address is not an email address.',
  missing_consent:
    'There is no consent_basis: give one, or set default_consent_basis on the list, if there is one to give.',
  suppressed: 'The address is suppressed in this project: it left, bounced or complained.',
  no_mx: "The address's domain takes no mail.",
};

/** The refusal of an address, with its code. */
export function rejected(rejection: Admission['outcome']): AppError {
  const code = rejection in REJECTED ? (rejection as Rejection) : 'suppressed';
  return new AppError('invalid', REJECTED[code], { code, errors: { email: [REJECTED[code]] } });
}

/** A row with its list's id and its tags. */
export function presentContact(row: ContactRow, list: string, tags: string[]): ContactRecord {
  return present(FIELDS, { ...row, id: row.public_id, list, tags });
}
