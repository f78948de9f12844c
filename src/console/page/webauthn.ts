/** What a browser does with passkeys. */
import {
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { ApiError, call } from './api.ts';

export { browserSupportsWebAuthnAutofill as canOffer } from '@simplewebauthn/browser';

/** Ends an offer that is open, as where its page is left. */
export const endOffer = (): void => WebAuthnAbortService.cancelCeremony();

/** False where the person ended it, or it is wanted no more. With `is_offered` the address field offers passkeys, and it waits for one. */
export async function signInByPasskey(is_offered: boolean, isWanted = () => true): Promise<boolean> {
  const optionsJSON = await call('POST /console/session/passkey/options', {});
  if (!isWanted()) return false;
  const response = await asked(() => startAuthentication({ optionsJSON, useBrowserAutofill: is_offered }));
  if (response) await call('POST /console/session/passkey', { body: { response } });
  return response !== null;
}

/** False where the person ended it. */
export async function addPasskey(name: string, password: string | undefined): Promise<boolean> {
  const body = password === undefined ? {} : { password };
  const optionsJSON = await call('POST /console/passkeys/options', { body });
  const response = await asked(() => startRegistration({ optionsJSON }));
  if (response) await call('POST /console/passkeys', { body: { name, response } });
  return response !== null;
}

/** Null where it was ended; what a browser refuses otherwise is said as the API's refusals are. */
async function asked<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = error instanceof WebAuthnError ? error.code : null;
    if (code === 'ERROR_CEREMONY_ABORTED' || error.name === 'NotAllowedError' || error.name === 'AbortError')
      return null;
    throw new ApiError(409, { message: tell(code) });
  }
}

function tell(code: string | null): string {
  if (code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    return 'That device has a passkey of yours already.';
  if (code === 'ERROR_INVALID_DOMAIN' || code === 'ERROR_INVALID_RP_ID')
    return 'Passkeys work at the address that this server is set to alone. Open that one.';
  return 'The browser could not use a passkey here.';
}
