/** Passkeys: a person's own, and signing in by them. */
import type { Config } from '../../config.ts';
import { sessionCookie } from '../../platform/http/browser.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { consoleRoute, type Route, signInRoute } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Passkeys } from './passkeys.ts';
import * as schemas from './schemas.ts';

const tag = 'Console';
const EXAMPLE = { id: 'Aa0', rawId: 'Aa0', type: 'public-key', response: {}, clientExtensionResults: {} };

export function passkeyRoutes(
  passkeys: Passkeys,
  { config, max_body_bytes }: { config: Config; max_body_bytes: number },
): Route[] {
  const open = { authorize: () => passkeys.requireOpen(), tag };
  return [
    signInRoute({
      method: 'POST',
      path: '/session/passkey/options',
      ...open,
      summary: 'What a browser needs to sign in by a passkey',
      description: 'Names nobody. The challenge lives five minutes and is good once.',
      response: schemas.passkeyRequest,
      handle: () => passkeys.ask(),
    }),
    signInRoute({
      method: 'POST',
      path: '/session/passkey',
      ...open,
      status: 204,
      max_body_bytes,
      summary: 'Sign in by a passkey',
      description:
        'Sets the cookie, and stands for both steps. 401 is the same whatever is wrong. 429 after thirty failures from an address in ' +
        '15 minutes; no account is locked.',
      body: schemas.passkeySignInBody,
      example: { response: EXAMPLE },
      async handle({ ctx, body }) {
        const secret = await passkeys.signIn(body.response, ctx);
        return new Response(null, { status: 204, headers: sessionCookie(secret, config) });
      },
    }),
    consoleRoute({
      method: 'POST',
      path: '/passkeys/options',
      ...open,
      max_body_bytes,
      summary: 'What a browser needs to make a passkey',
      description:
        'Wants the password, unless the session began within ten minutes: else 403 `confirm_first`. 409 from 20 passkeys on.',
      body: schemas.passkeyOfferBody,
      example: { password: 'correct horse battery staple' },
      response: schemas.passkeyCreation,
      handle: ({ caller, body }) => passkeys.offer(caller, body.password),
    }),
    consoleRoute({
      method: 'POST',
      path: '/passkeys',
      ...open,
      status: 201,
      max_body_bytes,
      summary: 'Add a passkey',
      body: schemas.newPasskeyBody,
      example: { name: 'Laptop', response: EXAMPLE },
      response: schemas.passkeyRecord,
      handle: ({ ctx, caller, body }) => passkeys.add(caller, body, ctx.ip),
    }),
    consoleRoute({
      method: 'GET',
      path: '/passkeys',
      ...open,
      summary: 'Your passkeys, newest first',
      query: t.Object(pageQuery),
      response: t.Array(schemas.passkeyRecord),
      handle: ({ caller, query }) => passkeys.list(caller, query),
    }),
    consoleRoute({
      method: 'DELETE',
      path: '/passkeys/:passkey',
      ...open,
      status: 204,
      summary: 'Remove a passkey',
      handle: ({ ctx, caller }) => passkeys.remove(caller, ctx.params.passkey ?? '', ctx.ip),
    }),
  ];
}
