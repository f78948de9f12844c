/** Certificates that nobody vouches for, such as one's own authority's: how it shows, what helps. */

/** Whether a failure's code, of OpenSSL's, says that no trusted authority signed the certificate. */
export function isUntrusted(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
}

/** What helps, as a part of a sentence or one of its own. */
export const TRUST_REMEDY =
  'add its authority to those of the system, or start Satchel with its PEM file in NODE_EXTRA_CA_CERTS';
