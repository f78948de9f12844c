/** The certificate that is served: kept, ordered where there is none that will do, and renewed in time. */
import type { Config, TlsSettings } from '../../config.ts';
import { AppError, messageOf } from '../../errors.ts';
import { type Clock, SECOND_MS, toIso } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { TlsIdentity } from '../../platform/http/listener.ts';
import { orderCertificate } from './acme.ts';
import {
  type Certificate,
  type FailedOrder,
  forgetFailedOrder,
  keepCertificate,
  keepFailedOrder,
  loadAccountKey,
  loadCertificate,
  loadFailedOrder,
  makeAccountKey,
  readCertificate,
} from './files.ts';

/** Decision: a certificate is renewed once this part of its life is left. */
const RENEW_AT_LIFE_LEFT = 1 / 3;
/** Decision: how often that is looked at, but each tenth of a certificate's life where that is shorter. */
const CERTIFICATE_LOOK_MS = 3_600_000;
/** Decision: what a failed order waits for the next, twice as long each time. */
const ORDER_RETRY_MS = 60_000;
const MAX_ORDER_RETRY_MS = 86_400_000;

const MAX_REASON_CHARS = 400;
const BROKEN_OFF = 'it is under way, or was broken off as the server ended';

interface CertificatesDeps {
  config: Pick<Config, 'data_dir'>;
  tls: TlsSettings;
  clock: Clock;
  logger: Logger;
  /** Has a certificate served, in place of the one before. */
  serve(certificate: TlsIdentity): void;
}

export class Certificates {
  /** The authority is to find these texts at the http port, by token. */
  readonly challenges = new Map<string, string>();
  #kept: Certificate | null = null;
  #served: Certificate | null = null;
  #failed: FailedOrder | null = null;
  #timer: NodeJS.Timeout | null = null;
  #is_looking = false;
  #is_stopped = false;

  constructor(private readonly deps: CertificatesDeps) {}

  /**
   * Serves the kept certificate at once where it is good, and looks after it. A damaged file counts as none.
   * Throws what `serve` throws.
   */
  start(): void {
    const { config, logger } = this.deps;
    try {
      this.#kept = loadCertificate(config.data_dir);
    } catch (error) {
      logger.warn('the kept certificate is of no use: a new one is ordered', { reason: messageOf(error) });
    }
    try {
      this.#failed = loadFailedOrder(config.data_dir);
    } catch (error) {
      logger.warn('what was kept of the last order is of no use', { reason: messageOf(error) });
    }
    this.#serveKept();
    void this.look();
  }

  /** Orders nothing any more; an order under way is left to itself. */
  stop(): void {
    this.#is_stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Why nothing is served, in sentences for whoever asks; null where something is. */
  explainWaiting(): string | null {
    if (this.#served) return null;
    const names = this.deps.tls.names.join(', ');
    const failed = this.#failedHere();
    const waiting = `There is no certificate for ${names} yet, so nothing is served here.`;
    if (!failed || (this.#is_looking && failed.reason === BROKEN_OFF))
      return `${waiting} One is being ordered.\n`;
    return (
      `${waiting} The order of ${toIso(failed.at_ms)} failed: ${failed.reason}\n` +
      `The next one is at ${toIso(failed.next_ms)}.\n`
    );
  }

  /** Orders a certificate where that is due, and looks again in time. */
  async look(): Promise<void> {
    if (this.#is_looking || this.#is_stopped) return;
    this.#is_looking = true;
    const { clock, logger } = this.deps;
    try {
      if (this.#isDue() && this.#mayOrder()) await this.#order();
      this.#serveKept();
    } catch (error) {
      logger.error('the certificate could not be seen to', { error: messageOf(error) });
    } finally {
      this.#is_looking = false;
      if (!this.#is_stopped) {
        this.#timer = setTimeout(
          () => void this.look(),
          waitToLook(this.#kept, this.#failedHere(), clock.now()),
        );
      }
    }
  }

  #serveKept(): void {
    const { clock, tls, logger, serve } = this.deps;
    const kept = this.#kept;
    if (!kept || kept === this.#served || kept.to_ms <= clock.now()) return;
    // After a change of names the one before does for those that stayed, until there is one for all.
    if (!tls.names.some((name) => kept.names.includes(name))) return;
    serve(kept);
    this.#served = kept;
    logger.info('certificate served', { names: kept.names.join(','), until: toIso(kept.to_ms) });
  }

  #isDue(): boolean {
    const { clock, tls } = this.deps;
    const kept = this.#kept;
    if (!kept || kept.acme_directory !== tls.acme_directory) return true;
    if (kept.names.join() !== tls.names.join()) return true;
    return clock.now() >= renewalOf(kept);
  }

  /** True when the last failure is old enough. One that would wait too long came of a wrong clock. */
  #mayOrder(): boolean {
    const failed = this.#failedHere();
    if (!failed) return true;
    const wait_ms = failed.next_ms - this.deps.clock.now();
    return wait_ms <= 0 || wait_ms > MAX_ORDER_RETRY_MS;
  }

  /** The last order if it failed for the same names and authority: others may do better. */
  #failedHere(): FailedOrder | null {
    const { tls } = this.deps;
    const failed = this.#failed;
    const is_same = failed?.acme_directory === tls.acme_directory && failed.names.join() === tls.names.join();
    return failed && is_same ? failed : null;
  }

  async #order(): Promise<void> {
    const { config, tls, clock, logger } = this.deps;
    const { acme_directory, names } = tls;
    const failures = (this.#failedHere()?.failures ?? 0) + 1;
    const note = (reason: string): void => {
      const at_ms = clock.now();
      const wait_ms = Math.min(ORDER_RETRY_MS * 2 ** (failures - 1), MAX_ORDER_RETRY_MS);
      this.#failed = { acme_directory, names, failures, at_ms, next_ms: at_ms + wait_ms, reason };
      keepFailedOrder(config.data_dir, this.#failed);
    };
    // Before it begins: a server that crashes again and again must not use up what the authority allows.
    note(BROKEN_OFF);
    logger.info('certificate ordered', { names: names.join(','), authority: new URL(acme_directory).host });
    try {
      await this.#obtain();
    } catch (error) {
      const reason = inOneLine(messageOf(error));
      note(reason);
      logger.warn('no certificate was given', { reason, next_try_at: toIso(this.#failed?.next_ms ?? null) });
      return;
    }
    this.#failed = null;
    forgetFailedOrder(config.data_dir);
  }

  /** Has a new certificate, on disk. Throws why it has not, or where it will not do for long. */
  async #obtain(): Promise<void> {
    const { config, tls, clock } = this.deps;
    const account_key = loadAccountKey(config.data_dir) ?? makeAccountKey(config.data_dir);
    const { acme_directory, acme_email, names } = tls;
    const identity = await orderCertificate(
      { acme_directory, acme_email, names, account_key },
      this.challenges,
    );
    const certificate = readCertificate({ ...identity, acme_directory, names });
    keepCertificate(config.data_dir, certificate);
    this.#kept = certificate;
    // Otherwise it would be ordered anew with each look.
    if (clock.now() >= renewalOf(certificate))
      throw new AppError(
        'upstream_failed',
        `The new certificate is good until ${toIso(certificate.to_ms)} only: look at the clock of this machine.`,
      );
  }
}

/** When a third of its life is left. */
export function renewalOf({ from_ms, to_ms }: Certificate): number {
  return to_ms - (to_ms - from_ms) * RENEW_AT_LIFE_LEFT;
}

/** Milliseconds until the next look: an hour, a tenth of a shorter life, or until the next try. */
export function waitToLook(
  kept: Pick<Certificate, 'from_ms' | 'to_ms'> | null,
  failed: Pick<FailedOrder, 'next_ms'> | null,
  now_ms: number,
): number {
  const tenth_ms = kept ? (kept.to_ms - kept.from_ms) / 10 : CERTIFICATE_LOOK_MS;
  const order_ms = failed ? failed.next_ms - now_ms : CERTIFICATE_LOOK_MS;
  return Math.max(SECOND_MS, Math.min(CERTIFICATE_LOOK_MS, tenth_ms, order_ms));
}

function inOneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > MAX_REASON_CHARS ? `${line.slice(0, MAX_REASON_CHARS)}...` : line;
}
