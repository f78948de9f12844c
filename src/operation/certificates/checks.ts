/** What doctor asks of built-in TLS: how long its certificate lasts, failed orders, where names lead. */
import { existsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import {
  aside,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import {
  type Certificate,
  type FailedOrder,
  folderOf,
  loadCertificate,
  loadFailedOrder,
  orderFileOf,
} from './files.ts';
import { renewalOf } from './service.ts';

const CHECK = 'certificate';
/** A server looks each hour; one that was off for a day may be as late. */
const LATE_MS = DAY_MS;

interface On {
  config: Config;
  clock: Clock;
  resolver: Pick<Resolver, 'lookupAddresses'>;
}

/** `serve --tls` may be all that says so, and doctor does not see it: the folder tells as well. */
export function certificateChecks({ config, clock, resolver }: On): HealthCheck[] {
  const { data_dir } = config;
  if (!config.tls && !existsSync(folderOf(data_dir))) return [];
  return [
    heldCertificateCheck({ config, clock }),
    {
      check: CHECK,
      run: () =>
        Promise.all(namesOf(config).map(async (name) => aside(name, await checkName(name, resolver)))),
    },
  ];
}

function namesOf({ tls, data_dir }: Config): readonly string[] {
  return tls?.names ?? read(data_dir).certificate?.names ?? read(data_dir).failed?.names ?? [];
}

/** A damaged file is told of by the check of the certificate itself. */
function read(data_dir: string): { certificate: Certificate | null; failed: FailedOrder | null } {
  try {
    return { certificate: loadCertificate(data_dir), failed: loadFailedOrder(data_dir) };
  } catch {
    return { certificate: null, failed: null };
  }
}

/** How long the kept certificate lasts, and whether the next one can be had. */
export function heldCertificateCheck({ config, clock }: Pick<On, 'config' | 'clock'>): HealthCheck {
  return { check: CHECK, run: () => checkCertificate(config.data_dir, clock.now()) };
}

function checkCertificate(data_dir: string, now_ms: number): Finding[] {
  const gone = `where TLS is not Satchel's any more: rm -r ${shellWord(folderOf(data_dir))}`;
  try {
    const certificate = loadCertificate(data_dir);
    const failed = loadFailedOrder(data_dir);
    const findings: Finding[] = [];
    if (certificate) findings.push(judge(certificate, now_ms, gone));
    const is_urgent = !certificate || isLate(certificate, now_ms);
    if (failed) findings.push(describeFailed(failed, is_urgent, data_dir));
    return findings.length > 0 ? findings : [ok(CHECK, 'None has been ordered yet.')];
  } catch (error) {
    return [problem(CHECK, messageOf(error), `satchel serve orders a new one; ${gone}`)];
  }
}

function isLate(certificate: Certificate, now_ms: number): boolean {
  return now_ms >= renewalOf(certificate) + LATE_MS;
}

function judge(certificate: Certificate, now_ms: number, gone: string): Finding {
  const { names, to_ms } = certificate;
  const of = `The certificate for ${names.join(', ')}`;
  if (to_ms <= now_ms)
    return problem(
      CHECK,
      `${of} ended ${toIso(to_ms)}: browsers refuse it.`,
      `satchel serve renews it; ${gone}`,
    );
  if (isLate(certificate, now_ms)) {
    const message = `${of} ends ${toIso(to_ms)}, and was to be renewed from ${toIso(renewalOf(certificate))} on.`;
    return warning(CHECK, message, `satchel serve renews it; ${gone}`);
  }
  return ok(CHECK, `${of} is good until ${toIso(to_ms)}.`);
}

/** While a certificate is good and was to be renewed a day ago at most, a failed order is mended by the next as a rule. */
function describeFailed(failed: FailedOrder, is_urgent: boolean, data_dir: string): Finding {
  const { names, at_ms, next_ms, failures, reason } = failed;
  const so_far = failures > 1 ? `, as ${failures - 1} before it` : '';
  const message = `The order of ${toIso(at_ms)} for ${names.join(', ')} failed${so_far}: ${reason} The next is at ${toIso(next_ms)}.`;
  const remedy = `see to the reason; to order at once: rm ${shellWord(orderFileOf(data_dir))}, and restart the server`;
  return aside('order', (is_urgent ? problem : warning)(CHECK, message, remedy));
}

async function checkName(name: string, resolver: On['resolver']): Promise<Finding> {
  const found = await resolver.lookupAddresses(name);
  if (found.status === 'unknown')
    return warning(
      CHECK,
      `Whether ${name} has an address could not be looked up: ${found.reason}`,
      'try again',
    );
  if (found.status === 'found' && found.records.length > 0)
    return ok(CHECK, `${name} leads to ${found.records.join(', ')}.`);
  return problem(
    CHECK,
    `${name} has no address in the DNS: the authority can't reach it, and neither can anybody else.`,
    `publish an A or AAAA record for ${name}, or leave it out of --tls`,
  );
}
