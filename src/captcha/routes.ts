/** The captcha endpoint of the data plane. */
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import { dataRoute, type Route } from '../platform/http/routes.ts';
import { parse, validate } from '../platform/http/schema.ts';
import { captchaResult, captchaToken, verifyBody } from './schemas.ts';
import type { Captcha } from './service.ts';

/** Contract, Limits: captcha verify, per API key. */
const CAPTCHA_RATE_PER_MINUTE = 60;

export function captchaRoutes(captcha: Captcha, limiter: RateLimiter): Route[] {
  return [
    dataRoute({
      method: 'POST',
      path: '/captcha/verify',
      needs: ['captcha', 'read'],
      tag: 'Captcha',
      summary: "Verify a visitor's captcha token",
      description:
        'Branch on `success` for the verdict and on the HTTP status for whether there is one: 409 means that no readable ' +
        'secret is stored in the vault, 502 that the provider gave no answer. At most ' +
        `${CAPTCHA_RATE_PER_MINUTE} requests a minute for each key.`,
      also: { 502: 'The captcha provider gave no answer' },
      body: verifyBody,
      example: { token: 'XXXX.DUMMY.TOKEN.XXXX' },
      response: captchaResult,
      // Before the body is judged: a refused body counts too.
      load: ({ caller }) => {
        limiter.take(`captcha:${caller.key_id}`, {
          limit: CAPTCHA_RATE_PER_MINUTE,
          per: 'minute',
          what: 'Captcha verifications of this API key',
        });
      },
      errorsIn: ({ body }) => validate(captchaToken, tokenOf(body)).errors,
      handle({ caller, body }) {
        const { token } = parse(captchaToken, tokenOf(body));
        const { remoteip, idempotency_key, action } = body;
        const project = { id: caller.project_id, public_id: caller.project_public_id };
        return captcha.verify(project, { token, remoteip, idempotency_key, action });
      },
    }),
  ];
}

function tokenOf(body: { token?: unknown; response?: unknown }): { token: unknown } {
  return { token: body.token ?? body.response };
}
