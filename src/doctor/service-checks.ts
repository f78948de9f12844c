/** What `satchel doctor` asks the capabilities: DNS and mailboxes, secrets that do not decrypt, captcha test secrets. */

import type { Keys } from '../keys/service.ts';
import type { Mailboxes, MailboxRecord } from '../mailboxes/service.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Finding, HealthCheck } from '../platform/host/health-check.ts';
import { PLANE_PREFIX } from '../platform/http/routes.ts';
import type { LostSecret } from '../platform/secrets/account-secrets.ts';
import type { Projects } from '../projects/service.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import type { Vault } from '../vault/service.ts';

interface HasSecrets {
  listUndecryptable(): LostSecret[];
}

export interface CheckedServices {
  clock: Clock;
  projects: Projects;
  keys: Keys;
  vault: Vault;
  database_accounts: HasSecrets;
  database_projects: HasSecrets;
  ai_accounts: HasSecrets;
  sending_domains: SendingDomains;
  mailboxes: Mailboxes;
}

/** The checks of every capability that has something to check. */
export function createServiceChecks(services: CheckedServices): HealthCheck[] {
  return [
    { check: 'sending domains', run: () => checkDomains(services.sending_domains) },
    { check: 'mailboxes', run: () => checkMailboxes(services.mailboxes.list()) },
    { check: 'sealed values', run: () => checkSecrets(services) },
    { check: 'captcha', run: () => checkCaptcha(services) },
  ];
}

/** The records are looked up, for trusted domains too: receivers look at them whoever vouches for the domain here. */
async function checkDomains(sending_domains: SendingDomains): Promise<Finding[]> {
  const check = 'sending domains';
  const active = sending_domains.list().filter((domain) => domain.is_active);
  if (active.length === 0) {
    return [{ check, status: 'ok', message: 'No sending domain is active: no email is sent.', remedy: null }];
  }
  const findings = await Promise.all(
    active.map(async ({ name, is_verified, is_trusted }): Promise<Finding[]> => {
      const remedy = `satchel domain verify ${name}`;
      if (!is_verified && !is_trusted) {
        return [
          { check, status: 'problem', message: `${name} is not verified: nothing is sent from it.`, remedy },
        ];
      }
      const { spf, dkim, dmarc } = await sending_domains.checkMailboxDns(`postmaster@${name}`);
      const failing = Object.entries({ SPF: spf, DKIM: dkim, DMARC: dmarc }).filter(
        ([, verdict]) => !verdict.ok,
      );
      if (failing.length === 0) {
        return [{ check, status: 'ok', message: `${name}: SPF, DKIM and DMARC are in place.`, remedy: null }];
      }
      return failing.map(([record, { problem }]) => ({
        check,
        status: 'warning',
        message: `${name}, ${record}: ${problem ?? 'The record does not fit.'}`,
        remedy,
      }));
    }),
  );
  return findings.flat();
}

/** RFC 4954, 6: the password is wrong, or is not the kind that this relay wants. */
const REFUSED_LOG_IN = /^53[45]\b/;

function checkMailboxes(mailboxes: readonly MailboxRecord[]): Finding[] {
  return mailboxes.map((mailbox) => {
    const { address, failures, last_error, daily_limit, used_today } = mailbox;
    const check = 'mailboxes';
    const reason = last_error === null ? '' : ` Last error: ${last_error}`;
    if (mailbox.state === 'paused') {
      return {
        check,
        status: 'ok',
        message: `${address} is paused.`,
        remedy: `satchel mailbox resume ${address}`,
      };
    }
    if (mailbox.state === 'resting' || failures > 0) {
      const rest = mailbox.resting_until === null ? '' : ` It rests until ${mailbox.resting_until}.`;
      return {
        check,
        status: mailbox.state === 'resting' ? 'problem' : 'warning',
        message: `${address} could not be used ${failures === 1 ? 'the last time' : `${failures} times in a row`}.${rest}${reason}`,
        remedy: REFUSED_LOG_IN.test(last_error ?? '')
          ? `satchel mailbox change ${address} --smtp -`
          : `satchel mailbox test ${address} --to YOUR-ADDRESS`,
      };
    }
    if (daily_limit !== null && used_today >= daily_limit) {
      return {
        check,
        status: 'warning',
        message: `${address} has reached its daily limit of ${daily_limit}; it goes on at midnight UTC.`,
        remedy: 'satchel mailbox add ANOTHER-ADDRESS --smtp URL',
      };
    }
    return { check, status: 'ok', message: `${address} works; messages today: ${used_today}.`, remedy: null };
  });
}

function checkSecrets(services: CheckedServices): Finding[] {
  const { projects, keys, vault, sending_domains, mailboxes } = services;
  const check = 'sealed values';
  const findings: Finding[] = [];
  const add = (message: string, remedy: string): void => {
    findings.push({ check, status: 'problem', message, remedy });
  };
  for (const project of projects.listAll({})) {
    for (const id of keys.listUndecryptable(project)) {
      add(
        `The copy of API key ${id} of project ${project.slug} does not decrypt.`,
        `satchel key rotate ${id}`,
      );
    }
    for (const { service, field } of vault.listUndecryptable(project)) {
      add(
        `The vault value ${service}.${field} of project ${project.slug} does not decrypt.`,
        `satchel vault set --project ${project.slug} ${service} ${field}=-`,
      );
    }
  }
  const accounts = [services.database_accounts, services.database_projects, services.ai_accounts];
  for (const { kind, id, name, field } of accounts.flatMap((each) => each.listUndecryptable())) {
    add(
      `The ${field} of the ${kind.replaceAll('_', ' ')} ${id} (${name}) does not decrypt.`,
      `store it again: PATCH ${PLANE_PREFIX.management}/${kind.replaceAll('_', '-')}s/${id} with ${field}`,
    );
  }
  for (const address of mailboxes.listUndecryptable()) {
    add(
      `The relay's password of the mailbox ${address} does not decrypt.`,
      `satchel mailbox change ${address} --smtp -`,
    );
  }
  for (const domain of sending_domains.listUndecryptable()) {
    add(
      `The DKIM key of the domain ${domain} does not decrypt: nothing is sent from it.`,
      `satchel domain remove ${domain}, then satchel domain add ${domain}, and add its mailboxes again`,
    );
  }
  return findings.length > 0
    ? findings
    : [{ check, status: 'ok', message: 'Every one of them decrypts.', remedy: null }];
}

function checkCaptcha({ projects, vault }: CheckedServices): Finding[] {
  return vault.warnings(projects.listAll({})).map(({ slug, message }) => ({
    check: 'captcha',
    status: 'warning',
    message,
    remedy: `satchel vault set --project ${slug} captcha secret_key=-`,
  }));
}
