/** Why somebody may be mailed, in words. */
import type { ContactList } from '../../api.generated.ts';

export type ConsentBasis = NonNullable<ContactList['default_consent_basis']>;

export const CONSENT_BASES: Readonly<Record<ConsentBasis, string>> = {
  consent: 'Consent',
  double_opt_in: 'Double opt-in',
  contract: 'Contract',
  legitimate_interest: 'Legitimate interest',
  existing_customer: 'Existing customer',
};

/** What was chosen, or null where nothing was. */
export function readBasis(chosen: string): ConsentBasis | null {
  return Object.hasOwn(CONSENT_BASES, chosen) ? (chosen as ConsentBasis) : null;
}
