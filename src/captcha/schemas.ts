/** Shapes of captcha verification. */
import { MAX_CAPTCHA_TOKEN_CHARS } from '../limits.ts';
import { named, nullable, oneOf, type Static, t, text } from '../platform/http/schema.ts';

/** An IP address, a UUID, an action: no provider takes more of any of them. */
const MAX_CAPTCHA_OPTION_CHARS = 255;

/** Clients send one of the two names; which one counts is decided before either is checked. */
const uncheckedToken = (description: string) =>
  t.Optional(t.Unknown({ type: 'string', maxLength: MAX_CAPTCHA_TOKEN_CHARS, description }));

export const verifyBody = named(
  'CaptchaQuestion',
  t.Object({
    token: uncheckedToken("The widget's response. Required, unless `response` is sent."),
    response: uncheckedToken('The same under its name in forms; `token` wins.'),
    remoteip: t.Optional(
      text({ min: 1, max: MAX_CAPTCHA_OPTION_CHARS, description: "The visitor's address." }),
    ),
    idempotency_key: t.Optional(
      text({ min: 1, max: MAX_CAPTCHA_OPTION_CHARS, description: 'Allows verifying the same token again.' }),
    ),
    action: t.Optional(
      text({ min: 1, max: MAX_CAPTCHA_OPTION_CHARS, description: "Instead of the vault's expected_action." }),
    ),
  }),
);

export const captchaToken = t.Object({ token: text({ min: 1, max: MAX_CAPTCHA_TOKEN_CHARS }) });

const CAPTCHA_STATUSES = ['verified', 'not_configured', 'unreadable', 'upstream_failed'] as const;

export const captchaResult = named(
  'CaptchaResult',
  t.Object({
    success: t.Boolean(),
    status: oneOf(CAPTCHA_STATUSES),
    error_codes: t.Array(t.String()),
    hostname: nullable(t.String()),
    challenge_ts: nullable(t.String()),
    action: nullable(t.String()),
    cdata: nullable(t.String()),
  }),
);
export type CaptchaResult = Static<typeof captchaResult>;
