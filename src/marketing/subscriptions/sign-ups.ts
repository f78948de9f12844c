/** A sign-up as it is stored, the contact that it becomes, and which of its refusals may pass. */

import { AppError, type FieldErrors } from '../../errors.ts';
import { type Candidate, contactAddress } from '../contacts/service.ts';

/** A sign-up as it was sent. */
export interface SignUp {
  list_id: number;
  email: string;
  first_name: string | null;
  last_name: string | null;
  ip: string | null;
  /** The page whose form it was. */
  origin: string | null;
  is_test: boolean;
  /** Whether the box was ticked that allows to count what they open and click. */
  tracking: boolean;
  /** By the link of a mail to the address, so that nobody else asks who does not have that mail. */
  is_of_mail: boolean;
  at: number;
}

/** Whoever fills a form in consents; the evidence says when, from where and by which page. */
export function candidateOf(sign_up: SignUp): Candidate {
  return {
    email: sign_up.email,
    first_name: sign_up.first_name,
    last_name: sign_up.last_name,
    tags: [],
    custom: {},
    source: null,
    reason: null,
    source_platform: 'form',
    consent_basis: 'consent',
    consent_at: sign_up.at,
    consent_ip: sign_up.ip,
    consent_origin: sign_up.origin,
    is_test: sign_up.is_test,
  };
}

/** True where a sign-up's refusal passes by itself, so that its job is tried again. */
export function mayPassLater(error: unknown): error is AppError {
  return error instanceof AppError && (error.kind === 'rate_limited' || error.kind === 'unavailable');
}

/**
 * Links and line breaks in a name. They would let anybody advertise to anybody by way of a confirmation mail.
 */
const NO_NAME = /:\/\/|www\.|\p{Cc}/iu;

/** What is wrong with a sign-up beyond what its schema checks. */
export function errorsInSignUp(sent: {
  email?: string | undefined;
  first_name?: string | null | undefined;
  last_name?: string | null | undefined;
}): FieldErrors {
  const errors: FieldErrors = {};
  if (sent.email !== undefined && !contactAddress(sent.email))
    errors.email = ['must be an email address, such as ann@example.com'];
  for (const field of ['first_name', 'last_name'] as const)
    if (NO_NAME.test(sent[field] ?? ''))
      errors[field] = ['must be a name: without ://, www. and control characters'];
  return errors;
}
