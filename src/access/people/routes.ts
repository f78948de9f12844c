/** The console's own endpoints: welcome, signing in and out, sessions, the password and the second step. */
import type { Config } from '../../config.ts';
import { sessionCookie } from '../../platform/http/browser.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { consoleRoute, type Route, signInRoute } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Entry } from './entry.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import * as schemas from './schemas.ts';
import { ssoRoutes } from './sso-routes.ts';

/** The bodies of the console's own endpoints: addresses, passwords and codes. */
const MAX_CONSOLE_BODY_BYTES = 16 * 1024;

const tag = 'Console';
const max_body_bytes = MAX_CONSOLE_BODY_BYTES;

const done = (headers: Record<string, string> = {}): Response => new Response(null, { status: 204, headers });

export function peopleRoutes({ entry, config }: { entry: Entry; config: Config }): Route[] {
  return [
    ...signInRoutes(entry, config),
    ...ssoRoutes({ ...entry, config }),
    ...passkeyRoutes(entry.passkeys, { config, max_body_bytes }),
    ...sessionRoutes(entry, config),
    ...accountRoutes(entry),
  ];
}

/** Refuses what lets people in, or is for that, where single sign-on is the only way. */
const unlessOnlySso = ({ sso }: Entry) => ({ authorize: () => sso.refuseOthers() });

function signInRoutes(entry: Entry, config: Config): Route[] {
  const { welcome, sign_in } = entry;
  const others = unlessOnlySso(entry);
  return [
    signInRoute({
      method: 'GET',
      path: '/welcome/:token/person',
      ...others,
      tag,
      summary: 'Whose one-time link it is',
      description: 'The `email` is null for the link of the first person, who gives it.',
      response: schemas.invited,
      handle: ({ ctx }) => ({ email: welcome.find(ctx.params.token ?? '').person?.email ?? null }),
    }),
    signInRoute({
      method: 'POST',
      path: '/welcome/:token',
      ...others,
      status: 204,
      tag,
      max_body_bytes,
      summary: 'Set a password by a one-time link',
      description:
        'Signs nobody in. A 422 leaves the link good. The link of the first person takes `email` and `name` too.',
      body: schemas.welcomeBody,
      example: { password: 'correct horse battery staple' },
      load: ({ ctx }) => welcome.find(ctx.params.token ?? ''),
      async handle({ ctx, body }) {
        await welcome.use(ctx.params.token ?? '', body, ctx.ip);
        return done();
      },
    }),
    signInRoute({
      method: 'POST',
      path: '/session',
      ...others,
      status: 204,
      tag,
      max_body_bytes,
      summary: 'Sign in',
      description:
        'Sets the cookie. 401 is the same whatever is wrong; it has `second_step: true` where the password is right and a code ' +
        'is due, or wrong. 429 after ten failures of an account, or thirty from an address, in 15 minutes; where the person signed in ' +
        'before, after ten of theirs from there alone. From thirty wrong codes since the last right one, codes wait an hour, doubling to a day.',
      body: schemas.signInBody,
      example: { email: 'ann@example.com', password: 'correct horse battery staple' },
      async handle({ ctx, body }) {
        const { ip, user_agent } = ctx;
        return done(sessionCookie(await sign_in.signIn({ ...body, ip, user_agent }), config));
      },
    }),
  ];
}

function sessionRoutes({ sessions, own_account }: Entry, config: Config): Route[] {
  return [
    consoleRoute({
      method: 'GET',
      path: '/session',
      tag,
      summary: 'Who is signed in',
      response: schemas.signedIn,
      handle: ({ caller }) => own_account.show(caller),
    }),
    consoleRoute({
      method: 'DELETE',
      path: '/session',
      status: 204,
      tag,
      summary: 'Sign out',
      async handle({ ctx, caller }) {
        await sessions.end(caller, caller.session_id, ctx.ip);
        return done(sessionCookie(null, config));
      },
    }),
    consoleRoute({
      method: 'GET',
      path: '/sessions',
      tag,
      summary: 'Where you are signed in, newest first',
      query: t.Object(pageQuery),
      response: t.Array(schemas.sessionRecord),
      handle: ({ caller, query }) => sessions.list(caller, query),
    }),
    consoleRoute({
      method: 'DELETE',
      path: '/sessions/:session',
      status: 204,
      tag,
      summary: 'Sign out elsewhere',
      handle: ({ ctx, caller }) => sessions.end(caller, ctx.params.session ?? '', ctx.ip),
    }),
  ];
}

function accountRoutes(entry: Entry): Route[] {
  const { own_account } = entry;
  const others = unlessOnlySso(entry);
  return [
    consoleRoute({
      method: 'POST',
      path: '/password',
      ...others,
      status: 204,
      tag,
      max_body_bytes,
      summary: 'Change your password',
      description: 'Ends your other sessions.',
      body: schemas.passwordBody,
      example: { current_password: 'correct horse battery staple', password: 'another horse battery staple' },
      handle: ({ ctx, caller, body }) => own_account.changePassword(caller, body, ctx.ip),
    }),
    consoleRoute({
      method: 'POST',
      path: '/totp',
      ...others,
      tag,
      max_body_bytes,
      summary: 'A secret for your authenticator app',
      description: 'Nothing changes before a code of it is sent with PUT. `uri` is for a QR code.',
      body: schemas.totpBody,
      example: { password: 'correct horse battery staple' },
      response: schemas.newTotp,
      handle: ({ caller, body }) => own_account.offerTotp(caller, body.password),
    }),
    consoleRoute({
      method: 'PUT',
      path: '/totp',
      ...others,
      tag,
      max_body_bytes,
      summary: 'Turn the second step on',
      description: 'Answers ten recovery codes, shown this once: each signs in one time in place of a code.',
      body: schemas.codeBody,
      example: { code: '123456' },
      response: schemas.recoveryCodes,
      handle: async ({ ctx, caller, body }) => ({
        recovery_codes: await own_account.startTotp(caller, body.code, ctx.ip),
      }),
    }),
    consoleRoute({
      method: 'DELETE',
      path: '/totp',
      ...others,
      status: 204,
      tag,
      max_body_bytes,
      summary: 'Turn the second step off',
      body: schemas.endTotpBody,
      example: { password: 'correct horse battery staple', code: '123456' },
      handle: ({ ctx, caller, body }) => own_account.endTotp(caller, body, ctx.ip),
    }),
  ];
}
