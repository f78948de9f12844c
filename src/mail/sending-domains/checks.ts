/**
 * What `satchel doctor` asks of sending domains: the records in the DNS, and DKIM keys that do not decrypt.
 */
import {
  about,
  act,
  aside,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import type { SendingDomains } from './service.ts';

interface Services {
  sending_domains: SendingDomains;
  mailboxes: { list(): { address: string; relay: string | null }[] };
}

export function sendingDomainChecks(services: Services): HealthCheck[] {
  const { sending_domains } = services;
  return [
    { check: 'sending domains', run: () => checkDomains(services) },
    sealedCheck(() =>
      sending_domains.listUndecryptable().map((domain) => ({
        message: `The DKIM key of the domain ${domain} does not decrypt: nothing is sent from it.`,
        remedy: `satchel domain remove ${domain} --yes, then satchel domain add ${domain}, and add its mailboxes again`,
        about: { code: 'sending_domain', ref: domain },
      })),
    ),
  ];
}

/**
 * The records are looked up, for trusted domains too: receivers look at them whoever vouches for the domain
 * here.
 */
async function checkDomains({ sending_domains, mailboxes }: Services): Promise<Finding[]> {
  const check = 'sending domains';
  const active = sending_domains.list().filter((domain) => domain.is_active);
  if (active.length === 0) return [ok(check, 'No sending domain is active: no email is sent.')];
  const findings = await Promise.all(
    active.map(async ({ name, is_verified, is_trusted }): Promise<Finding[]> => {
      const remedy = `satchel domain verify ${name}`;
      const acts = [act('verify_domain', name)];
      if (!is_verified && !is_trusted) {
        const message = `${name} is not verified: nothing is sent from it.`;
        return [about('sending_domain', name, problem(check, message, remedy, acts))];
      }
      const own = mailboxes.list().filter(({ address }) => address.endsWith(`@${name}`));
      if (own.length > 0 && own.every(({ relay }) => relay === null)) {
        return [
          aside(name, ok(check, `${name}: its mail is captured and never leaves, so it needs no records.`)),
        ];
      }
      const { spf, dkim, dmarc } = await sending_domains.checkMailboxDns(`postmaster@${name}`);
      const failing = Object.entries({ SPF: spf, DKIM: dkim, DMARC: dmarc }).filter(
        ([, verdict]) => !verdict.ok,
      );
      if (failing.length === 0) return [aside(name, ok(check, `${name}: SPF, DKIM and DMARC are in place.`))];
      return failing.map(([record, verdict]) =>
        about(
          'sending_domain',
          name,
          aside(
            record,
            warning(
              check,
              `${name}, ${record}: ${verdict.problem ?? 'The record does not fit.'}`,
              remedy,
              acts,
            ),
          ),
        ),
      );
    }),
  );
  return findings.flat();
}
