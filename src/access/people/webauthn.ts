/** What is used of the library of passkeys, which is loaded when the first of them is asked for. */
export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
export { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
