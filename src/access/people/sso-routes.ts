/** The way to the issuer and back, which a browser walks by links, and what the sign-in page offers. */
import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import { SECOND_MS } from '../../platform/host/clock.ts';
import { readSsoCookie, requirePrivateLine, sessionCookie, ssoCookie } from '../../platform/http/browser.ts';
import { openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import type { Entry } from './entry.ts';
import type { Issuer } from './issuer.ts';
import { ways } from './schemas.ts';
import { SSO_WAIT_MS } from './sso.ts';

const tag = 'Console';
const START = '/console/oidc/start';

/** In place of what is kept: the browser was led to this very host once, so that a proxy which hides it makes no circle. */
const LED_HERE = 'here';
const LED_HERE_MS = 5 * SECOND_MS;

export function ssoRoutes({
  sso,
  passkeys,
  config,
}: Pick<Entry, 'sso' | 'passkeys'> & { config: Config }): Route[] {
  /** Throws the 404 without an issuer, and the 403 where signing in by password is. */
  const requireIssuer = (ctx: RequestContext): Issuer => {
    if (!sso.issuer) throw new AppError('not_found', 'There is no single sign-on here.');
    requirePrivateLine(ctx, config);
    return sso.issuer;
  };
  return [
    openRoute({
      plane: 'console',
      method: 'GET',
      path: '/ways',
      tag,
      summary: 'How people can sign in',
      response: ways,
      handle: () => ({ ...sso.ways(), passkey: passkeys.isOpen() }),
    }),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: START,
      status: 303,
      tag,
      summary: 'Leads to the issuer of single sign-on',
      description:
        '404 without an issuer. At another host than that of SATCHEL_PUBLIC_URL it leads there first.',
      async handle({ ctx }) {
        const issuer = requireIssuer(ctx);
        const { hostname } = new URL(config.public_url);
        if (ctx.url.hostname !== hostname && readSsoCookie(ctx.request, config) !== LED_HERE)
          return lead(config.public_url + START, ssoCookie(LED_HERE, LED_HERE_MS, config));
        const led = await sso.start(issuer, ctx);
        return 'url' in led
          ? lead(led.url, ssoCookie(led.kept, SSO_WAIT_MS, config))
          : lead(`/console?sso=${led.refusal}`);
      },
    }),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/console/oidc/callback',
      status: 303,
      tag,
      summary: 'Where the issuer leads back to',
      description:
        'To /console with the cookie of a session, or to /console?sso=refused|failed|away without.',
      async handle({ ctx }) {
        const issuer = requireIssuer(ctx);
        const came = { search: ctx.url.search, kept: readSsoCookie(ctx.request, config) };
        const outcome = await sso.finish(issuer, came, ctx);
        const gone = ssoCookie(null, 0, config);
        return 'secret' in outcome
          ? lead('/console', sessionCookie(outcome.secret, config), gone)
          : lead(`/console?sso=${outcome.refusal}`, gone);
      },
    }),
  ];
}

function lead(to: string, ...cookies: { 'Set-Cookie': string }[]): Response {
  const headers = new Headers({
    Location: to,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie['Set-Cookie']);
  return new Response(null, { status: 303, headers });
}
