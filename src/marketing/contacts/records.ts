/** A contact as clients see it, and why an address is not taken, in words. */
import { AppError } from '../../errors.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { Admission, Rejection } from './pipeline.ts';
import type { CustomFields } from './schemas.ts';
import type { ContactRow, ContactStatus } from './tables.ts';

export interface ContactRecord {
  id: string;
  /** The list's id. */
  list: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
  tags: string[];
  custom: CustomFields;
  status: ContactStatus;
  source: string | null;
  reason: string | null;
  contact_token: string;
  /** The evidence that the address may be mailed. */
  consent_basis: string;
  consent_at: string;
  consent_ip: string | null;
  consent_origin: string | null;
  source_platform: string;
  confirmed_at: string | null;
  created_at: string;
  updated_at: string;
}

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
export function present(row: ContactRow, list: string, tags: string[]): ContactRecord {
  return {
    id: row.public_id,
    list,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    tags,
    custom: row.custom,
    status: row.status,
    source: row.source,
    reason: row.reason,
    contact_token: row.contact_token,
    consent_basis: row.consent_basis,
    consent_at: toIso(row.consent_at),
    consent_ip: row.consent_ip,
    consent_origin: row.consent_origin,
    source_platform: row.source_platform,
    confirmed_at: toIso(row.confirmed_at),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}
