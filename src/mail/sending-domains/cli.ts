/** `satchel domain`: the domains that mail goes out from, and the DNS records they need. */
import { type Cli, type CliResult, EXIT } from '../../platform/cli/cli.ts';
import { requireYes } from '../../platform/cli/options.ts';
import { counted, formatFields, formatTable, type Table } from '../../platform/cli/tables.ts';
import { type BounceCheck, type DnsRecord, quoteTxt, type RecordCheck } from './dns-records.ts';
import type { DkimRotation, DomainCheck, DomainRecord, SendingDomains } from './service.ts';

interface Needs {
  sending_domains: SendingDomains;
  /** For what goes along when a domain is removed. */
  mailboxes: { list(): { id: number; domain: string }[] };
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

export function registerDomainCommands<S extends Needs>(cli: Cli<S>): void {
  const domain = cli.noun('domain', 'domains that mail goes out from, and the DNS records they need');
  registerAdd(cli, domain);
  cli
    .verb(domain, 'list', 'every sending domain')
    .example('satchel domain list')
    .does(async ({ services }) => {
      const domains = services.sending_domains.list();
      return { json: domains, text: formatDomains(domains) };
    });
  cli
    .verb(domain, 'verify <name>', 'look the DNS records up and say which are found, missing or wrong')
    .example('satchel domain verify mail.example.com')
    .does(async ({ services, actor }, _options, name = '') => {
      const check = await services.sending_domains.verify(actor, name);
      return {
        json: check,
        text: `${formatCheck(check)}\n\n${explainState(check)}`,
        exit: check.is_verified ? EXIT.done : EXIT.refused,
      };
    });
  registerChanges(cli, domain);
  registerDkim(cli, domain);
}

function registerAdd<S extends Needs>(cli: Cli<S>, domain: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(domain, 'add <name>', 'add a domain: makes its DKIM key and prints the DNS records to publish')
    .example('satchel domain add mail.example.com')
    .option('--default', 'send from it where a mail names no domain (the first domain is the default anyway)')
    .option('--trust', 'use it without looking its DNS records up')
    .does(async ({ services, actor }, options, name = '') => {
      const added = await services.sending_domains.add(actor, {
        name,
        is_default: options.default === true,
        is_trusted: options.trust === true,
      });
      const next = added.is_trusted
        ? 'It is trusted, so it can be used at once; receivers still look for these records.'
        : `When they are published: satchel domain verify ${added.name}`;
      return {
        json: added,
        text: `${added.name} was added${added.is_default ? ' and is the default' : ''}. Publish these records:\n\n${formatRecords(added.records)}\n\n${formatAdvice(added.advised)}\n\nThe SPF record gets what a well-known relay asks for with its mailbox: see it with satchel domain verify.\n${next}\nThen give it a mailbox: satchel mailbox add hello@${added.name} --smtp -`,
      };
    });
}

function registerChanges<S extends Needs>(cli: Cli<S>, domain: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(domain, 'default <name>', 'send from it where a mail names no domain')
    .example('satchel domain default mail.example.com')
    .does(async ({ services, actor }, _options, name = '') =>
      shown(await services.sending_domains.change(actor, name, { is_default: true })),
    );
  cli
    .verb(domain, 'activate <name>', 'take it into use again')
    .example('satchel domain activate mail.example.com')
    .does(async ({ services, actor }, _options, name = '') =>
      shown(await services.sending_domains.change(actor, name, { is_active: true })),
    );
  cli
    .verb(domain, 'deactivate <name>', 'send nothing from it until it is activated')
    .example('satchel domain deactivate mail.example.com')
    .does(async ({ services, actor }, _options, name = '') =>
      shown(await services.sending_domains.change(actor, name, { is_active: false })),
    );
  cli
    .verb(domain, 'trust <name>', 'use it without its DNS records being verified, for who knows better')
    .example('satchel domain trust mail.example.com')
    .does(async ({ services, actor }, _options, name = '') =>
      shown(await services.sending_domains.change(actor, name, { is_trusted: true })),
    );
  cli
    .verb(domain, 'remove <name>', 'remove it with its mailboxes and its DKIM key')
    .option('--yes', 'really do it')
    .example('satchel domain remove mail.example.com --yes')
    .does(async ({ services, actor }, options, name = '') => {
      const { sending_domains, mailboxes, emails } = services;
      const known = sending_domains.get(name);
      const ids = mailboxes.list().flatMap((mailbox) => (mailbox.domain === known.name ? [mailbox.id] : []));
      const waiting = emails.countWaitingFor(ids);
      const goes_along = `its DKIM key and ${counted(ids.length, 'mailbox', 'mailboxes')}`;
      requireYes(
        options,
        `removes ${known.name} with ${goes_along}; ${counted(waiting, 'mail that waits for it', 'mails that wait for it')} must find another mailbox or fail`,
      );
      const removed = await sending_domains.remove(actor, name);
      return { json: removed, text: `${removed.name} is removed with ${goes_along}.` };
    });
}

function registerDkim<S extends Needs>(cli: Cli<S>, domain: ReturnType<Cli<S>['noun']>): void {
  const dkim = cli.noun('dkim', 'the key that its mail is signed with', domain);
  cli
    .verb(dkim, 'rotate <name>', 'make a new key; mail is signed with it once its record is seen')
    .addHelpText(
      'after',
      `
Until then mail is signed with the old key. The server looks for the new record at its start and each full hour, and
"satchel domain verify" looks at once. Leave the old record where it is until that says that it may go.

Example:
  satchel domain dkim rotate mail.example.com`,
    )
    .does(async ({ services, actor }, _options, name = '') => {
      const rotation = await services.sending_domains.rotateDkim(actor, name);
      return {
        json: rotation,
        text: `Publish this record beside the old one:\n\n${formatRecords([rotation.record])}\n\nThen: satchel domain verify ${name}`,
      };
    });
}

function shown(domain: DomainRecord): CliResult {
  const { mailboxes, created_at, ...fields } = domain;
  return { json: domain, text: formatFields({ ...fields, mailboxes, created_at }) };
}

function formatDomains(domains: readonly DomainRecord[]): Table {
  return formatTable(
    ['domain', 'default', 'active', 'verified', 'mailboxes'],
    domains.map((domain) => [
      domain.name,
      domain.is_default,
      domain.is_active,
      domain.is_trusted && !domain.is_verified ? 'trusted' : domain.is_verified,
      domain.mailboxes,
    ]),
    'No sending domain yet. Add one: satchel domain add example.com',
  );
}

/** One block a record, its value on a line of its own: a DKIM key is too long for a table. */
function formatRecords(records: readonly DnsRecord[]): string {
  return records
    .map(({ purpose, type, name, value }) => `${titleOf(purpose)}\n  ${name}. ${type}\n  ${quoteTxt(value)}`)
    .join('\n\n');
}

function titleOf(purpose: DnsRecord['purpose']): string {
  return purpose.toUpperCase().replace('_', '-');
}

function formatAdvice(advised: readonly DnsRecord[]): string {
  return `Good to have, and asked for by nobody (MTA-STS also needs its policy at https://mta-sts.DOMAIN/.well-known/mta-sts.txt):\n\n${formatRecords(advised)}`;
}

function formatCheck({ records, bounces, dkim_rotation, advised }: DomainCheck): string {
  return [
    ...records.map(formatRecordCheck),
    ...bounces.map(formatBounces),
    ...(dkim_rotation ? [formatRotation(dkim_rotation)] : []),
    '',
    formatAdvice(advised),
  ].join('\n');
}

function formatRecordCheck(record: RecordCheck): string {
  const words = {
    found: 'found',
    missing: 'missing',
    wrong: 'wrong',
    unknown: 'could not find out',
    unneeded: 'not needed',
  };
  const lines = [`${titleOf(record.purpose)}  ${words[record.status]}  (${record.name})`];
  if (record.problem) lines.push(`  ${record.problem}`);
  if (record.status !== 'found' && record.status !== 'unneeded') {
    if (record.found !== null) lines.push(`  there:   ${quoteTxt(record.found)}`);
    lines.push(`  publish: ${quoteTxt(record.value)}`);
  }
  return lines.join('\n');
}

function formatBounces({ domain, takes_mail }: BounceCheck): string {
  const words = {
    yes: 'takes mail, so bounces arrive',
    no: 'takes no mail: bounces are lost. Give it an MX record, or its mailboxes a --return-path elsewhere',
    unknown: 'could not find out whether it takes mail',
  };
  return `BOUNCES  ${words[takes_mail]}  (${domain})`;
}

function formatRotation({ state, record, old_name, old_unneeded_from }: DkimRotation): string {
  return state === 'waiting'
    ? `NEW DKIM KEY  waits until its record is seen; mail is signed with the old key (${old_name})\n  publish: ${record.name}. ${record.type}\n           ${quoteTxt(record.value)}`
    : `NEW DKIM KEY  in use (${record.name}); the old record ${old_name} may go from ${old_unneeded_from}`;
}

function explainState(check: DomainRecord): string {
  if (check.is_verified) return `${check.name} is verified.`;
  return check.is_trusted
    ? `${check.name} is not verified, but trusted, so it is used all the same.`
    : `${check.name} is not verified: ownership, SPF and DKIM must all be found. DMARC is needed for marketing only.`;
}
