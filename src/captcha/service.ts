/** Captcha verification: asks the provider about a visitor's token, with the vault's secret. */
import type { Config } from '../config.ts';
import { AppError, type ErrorKind } from '../errors.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { Vault, VaultOwner } from '../secrets/vault/service.ts';
import { askProvider, ProviderFailure, type ProviderVerdict } from './provider.ts';
import type { CaptchaResult } from './schemas.ts';

export interface CaptchaQuestion {
  token: string;
  remoteip?: string | undefined;
  idempotency_key?: string | undefined;
  /** Used in place of the vault's expected_action. */
  action?: string | undefined;
}

/** A widget of the provider's within a form: an element that its script turns into a field of the form. */
export interface CaptchaWidget {
  /** Where its script, and what that shows in a frame, comes from. */
  origin: string;
  script: string;
  class_name: string;
  site_key: string;
  action: string | null;
}

/** Cloudflare Turnstile, https://developers.cloudflare.com/turnstile/ */
const TURNSTILE_ORIGIN = 'https://challenges.cloudflare.com';

/** Our own code: the token was made for another action. */
const ACTION_MISMATCH = 'service-action-mismatch';

export interface CaptchaDeps {
  vault: Vault;
  config: Pick<Config, 'captcha_verify_url' | 'captcha_timeout_ms'>;
  logger: Logger;
}

export class Captcha {
  constructor(private readonly deps: CaptchaDeps) {}

  /** True where a captcha secret is stored for the project, readable or not. */
  isConfigured(project: VaultOwner): boolean {
    const { values, undecryptable } = this.deps.vault.readSecretFor(project, 'captcha');
    return values.secret_key !== undefined || undecryptable.includes('secret_key');
  }

  /**
   * The widget with which a visitor of our pages gets a token; null for a provider without a known widget or
   * a vault without a site key.
   */
  widgetOf(project: VaultOwner): CaptchaWidget | null {
    const { site_key, expected_action } = this.deps.vault.readSecretFor(project, 'captcha').values;
    const is_turnstile = new URL(this.deps.config.captcha_verify_url).origin === TURNSTILE_ORIGIN;
    if (!is_turnstile || site_key === undefined) return null;
    return {
      origin: TURNSTILE_ORIGIN,
      script: `${TURNSTILE_ORIGIN}/turnstile/v0/api.js`,
      class_name: 'cf-turnstile',
      site_key,
      action: expected_action ?? null,
    };
  }

  /**
   * The verdict on a visitor's token; a failed visitor is a verdict, too. Changes nothing. Throws AppError
   * `conflict` with status `not_configured` or `unreadable` in its details, and `upstream_failed` when the
   * provider gives no verdict.
   */
  async verify(project: VaultOwner, question: CaptchaQuestion): Promise<CaptchaResult> {
    const { secret, expected_action } = this.#readSettings(project, question.action);
    const { token, remoteip, idempotency_key } = question;
    const at = { url: this.deps.config.captcha_verify_url, timeout_ms: this.deps.config.captcha_timeout_ms };
    try {
      const verdict = await askProvider(at, { secret, token, remoteip, idempotency_key });
      return judge(verdict, expected_action);
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      this.deps.logger.warn('captcha provider failed', { project: project.public_id, reason: error.message });
      throw refusal(
        'upstream_failed',
        'The captcha provider could not be reached or gave no answer. Try again.',
      );
    }
  }

  #readSettings(
    project: VaultOwner,
    action: string | undefined,
  ): { secret: string; expected_action: string | null } {
    const { values, undecryptable } = this.deps.vault.readSecretFor(project, 'captcha');
    const is_stored = values.secret_key !== undefined || undecryptable.includes('secret_key');
    if (!is_stored) {
      throw refusal(
        'not_configured',
        "The project's vault holds no captcha secret. An admin stores it as secret_key of the vault service captcha.",
      );
    }
    // An expected action that does not decrypt must not count as none: tokens of other actions would pass.
    const is_action_lost = action === undefined && undecryptable.includes('expected_action');
    if (values.secret_key === undefined || is_action_lost) {
      throw refusal(
        'unreadable',
        "The captcha settings in the project's vault do not decrypt: store them again.",
      );
    }
    return { secret: values.secret_key, expected_action: action ?? values.expected_action ?? null };
  }
}

/** A visitor passes when the provider says so and the token was made for the expected action. */
function judge(verdict: ProviderVerdict, expected_action: string | null): CaptchaResult {
  // A provider that refuses a token often echoes no action; that says nothing of the action it was made for.
  const is_mismatch =
    expected_action !== null &&
    verdict.action !== expected_action &&
    (verdict.success || verdict.action !== null);
  return {
    success: verdict.success && !is_mismatch,
    status: 'verified',
    error_codes: is_mismatch ? [...verdict.error_codes, ACTION_MISMATCH] : verdict.error_codes,
    hostname: verdict.hostname,
    challenge_ts: verdict.challenge_ts,
    action: verdict.action,
    cdata: verdict.cdata,
  };
}

const KIND_OF_REFUSAL = {
  not_configured: 'conflict',
  unreadable: 'conflict',
  upstream_failed: 'upstream_failed',
} as const satisfies Partial<Record<CaptchaResult['status'], ErrorKind>>;

/** The provider gave no verdict. The body has the fields of a result, so that clients read one shape. */
function refusal(status: keyof typeof KIND_OF_REFUSAL, message: string): AppError {
  return new AppError(KIND_OF_REFUSAL[status], message, {
    details: { status, error_codes: [], hostname: null, challenge_ts: null, action: null, cdata: null },
  });
}
