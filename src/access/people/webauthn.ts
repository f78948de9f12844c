/**
 * The library of passkeys. It is loaded when the first of them is asked for, and what it stands on wants reflect-metadata to have run
 * before: a compiled executable loads them in another order without this.
 */
import 'reflect-metadata';

export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
export { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
