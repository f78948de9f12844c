/** `satchel domain`: the domains that mail goes out from, and the DNS records they need. */
import { type Cli, type CliResult, EXIT } from '../platform/cli/cli.ts';
import { formatFields, formatTable, type Table } from '../platform/cli/tables.ts';
import type { DnsRecord, RecordCheck } from './dns-records.ts';
import type { DomainRecord, SendingDomains } from './service.ts';

interface Needs {
  sending_domains: SendingDomains;
}

export function registerDomainCommands<S extends Needs>(cli: Cli<S>): void {
  const domain = cli.noun('domain', 'domains that mail goes out from, and the DNS records they need');
  registerAdd(cli, domain);
  cli
    .verb(domain, 'list', 'every sending domain')
    .addHelpText('after', '\nExample:\n  satchel domain list')
    .action(
      cli.action(async ({ services }) => {
        const domains = services.sending_domains.list();
        return { json: domains, text: formatDomains(domains) };
      }),
    );
  cli
    .verb(domain, 'verify <name>', 'look the DNS records up and say which are found, missing or wrong')
    .addHelpText('after', '\nExample:\n  satchel domain verify mail.example.com')
    .action(
      cli.action(async ({ services, actor }, _options, name = '') => {
        const check = await services.sending_domains.verify(actor, name);
        return {
          json: check,
          text: `${formatChecks(check.records)}\n\n${explainState(check)}`,
          exit: check.is_verified ? EXIT.done : EXIT.refused,
        };
      }),
    );
  registerChanges(cli, domain);
}

function registerAdd<S extends Needs>(cli: Cli<S>, domain: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(domain, 'add <name>', 'add a domain: makes its DKIM key and prints the DNS records to publish')
    .addHelpText('after', '\nExample:\n  satchel domain add mail.example.com')
    .option('--default', 'send from it where a mail names no domain (the first domain is the default anyway)')
    .option('--trust', 'use it without looking its DNS records up')
    .action(
      cli.action(async ({ services, actor }, options, name = '') => {
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
          text: `${added.name} was added${added.is_default ? ' and is the default' : ''}. Publish these records:\n\n${formatRecords(added.records)}\n\nAdd to the SPF record what the provider of your relay asks for, such as include:...\n${next}\nThen give it a mailbox: satchel mailbox add hello@${added.name} --smtp -`,
        };
      }),
    );
}

function registerChanges<S extends Needs>(cli: Cli<S>, domain: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(domain, 'default <name>', 'send from it where a mail names no domain')
    .addHelpText('after', '\nExample:\n  satchel domain default mail.example.com')
    .action(
      cli.action(async ({ services, actor }, _options, name = '') =>
        shown(await services.sending_domains.makeDefault(actor, name)),
      ),
    );
  cli
    .verb(domain, 'activate <name>', 'take it into use again')
    .addHelpText('after', '\nExample:\n  satchel domain activate mail.example.com')
    .action(
      cli.action(async ({ services, actor }, _options, name = '') =>
        shown(await services.sending_domains.setActive(actor, name, true)),
      ),
    );
  cli
    .verb(domain, 'deactivate <name>', 'send nothing from it until it is activated')
    .addHelpText('after', '\nExample:\n  satchel domain deactivate mail.example.com')
    .action(
      cli.action(async ({ services, actor }, _options, name = '') =>
        shown(await services.sending_domains.setActive(actor, name, false)),
      ),
    );
  cli
    .verb(domain, 'remove <name>', 'remove it with its mailboxes and its DKIM key')
    .addHelpText('after', '\nExample:\n  satchel domain remove mail.example.com')
    .action(
      cli.action(async ({ services, actor }, _options, name = '') => {
        const removed = await services.sending_domains.remove(actor, name);
        const mailboxes = removed.removed_mailboxes === 1 ? 'mailbox' : 'mailboxes';
        return {
          json: removed,
          text: `${removed.name} and its ${removed.removed_mailboxes} ${mailboxes} are removed.`,
        };
      }),
    );
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
    .map(({ purpose, type, name, value }) => `${purpose.toUpperCase()}\n  ${name}. ${type}\n  "${value}"`)
    .join('\n\n');
}

function formatChecks(records: readonly RecordCheck[]): string {
  const words = { found: 'found', missing: 'missing', wrong: 'wrong', unknown: 'could not find out' };
  return records
    .map((record) => {
      const lines = [`${record.purpose.toUpperCase()}  ${words[record.status]}  (${record.name})`];
      if (record.problem) lines.push(`  ${record.problem}`);
      if (record.status !== 'found') {
        if (record.found !== null) lines.push(`  there:   "${record.found}"`);
        lines.push(`  publish: "${record.value}"`);
      }
      return lines.join('\n');
    })
    .join('\n');
}

function explainState(check: DomainRecord): string {
  if (check.is_verified) return `${check.name} is verified.`;
  return check.is_trusted
    ? `${check.name} is not verified, but trusted, so it is used all the same.`
    : `${check.name} is not verified: ownership, SPF and DKIM must all be found. DMARC is needed for marketing only.`;
}
