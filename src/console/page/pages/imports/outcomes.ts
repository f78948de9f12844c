/** Tells what became of the rows of an import, in words. */
import type { Import } from '../../api.generated.ts';

export const METHODS: Readonly<Record<Import['method'], string>> = {
  csv: 'CSV file',
  paste: 'Pasted addresses',
};

/** Why a row was not taken. */
export const REASONS = {
  invalid_syntax: 'No email address',
  no_mx: 'Its domain takes no mail',
  suppressed: 'Left, bounced or complained',
  missing_consent: 'No basis of consent',
} as const;

export type Reason = keyof typeof REASONS;

/** A code of rejected.csv in words; one that is new here is shown as it is. */
export function tellReason(code: string): string {
  return Object.hasOwn(REASONS, code) ? REASONS[code as Reason] : code;
}

/** Rows that were not taken; duplicates are none of them. */
export function rejectedRows(of: Pick<Import, Reason>): number {
  return of.invalid_syntax + of.no_mx + of.suppressed + of.missing_consent;
}
