/** `satchel domain`: the domains that mail goes out from, and the DNS records they need. */
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { counted } from '../../platform/words/phrases.ts';
import { quoteTxt } from './dns-records.ts';
import type {
  AddedDomain,
  BounceCheck,
  DkimRotation,
  DnsRecord,
  DomainCheck,
  DomainRecord,
  RecordCheck,
} from './schemas.ts';
import type { SendingDomains } from './service.ts';

interface Needs {
  sending_domains: SendingDomains;
  /** For what goes along when a domain is removed. */
  mailboxes: { list(): { id: number; domain: string }[] };
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

/**
 * Registers `satchel domain add | list | verify | default | activate | deactivate | trust | remove | dkim
 * rotate`.
 */
export function registerDomainCommands<S extends Needs>(cli: Cli<S>): Noun<S> {
  const domain = cli.noun('domain');
  domain
    .verb('add <name>', 'add a domain: makes its DKIM key and prints the DNS records to publish')
    .example('satchel domain add mail.example.com')
    .option('--default', 'send from it where a mail names no domain (the first domain is the default anyway)')
    .option('--trust', 'use it without looking its DNS records up')
    .shows(({ services, actor }, options, name) => {
      const is_default = options.default === true;
      const is_trusted = options.trust === true;
      return services.sending_domains.add(actor, { name, is_default, is_trusted });
    }, presentAdded);
  domain
    .verb('list', 'every sending domain')
    .example('satchel domain list')
    .lists(
      ({ services, page }) => paginateAll(page, services.sending_domains.list()),
      (one) =>
        rowOf(
          { ...one, verified: one.is_trusted && !one.is_verified ? 'trusted' : one.is_verified },
          'domain=name default=is_default active=is_active verified mailboxes',
        ),
      'No sending domain yet. Add one: satchel domain add example.com',
    );
  domain
    .verb('verify <name>', 'look the DNS records up and say which are found, missing or wrong')
    .example('satchel domain verify mail.example.com')
    .does(async ({ services, actor }, _options, name) => {
      const check = await services.sending_domains.verify(actor, name);
      const exit = check.is_verified ? EXIT.done : EXIT.refused;
      return { json: check, text: `${presentCheck(check)}\n\n${explainState(check)}`, exit };
    });
  for (const [name, changes, what] of [
    ['default', { is_default: true }, 'send from it where a mail names no domain'],
    ['activate', { is_active: true }, 'take it into use again'],
    ['deactivate', { is_active: false }, 'send nothing from it until it is activated'],
    ['trust', { is_trusted: true }, 'use it without its DNS records being verified, for who knows better'],
  ] as const)
    domain
      .verb(`${name} <name>`, what)
      .example(`satchel domain ${name} mail.example.com`)
      .shows(
        ({ services, actor }, _options, named) => services.sending_domains.change(actor, named, changes),
        presentChanged,
      );
  domain
    .verb('remove <name>', 'remove it with its mailboxes and its DKIM key')
    .example('satchel domain remove mail.example.com --yes')
    .removes(async ({ services, consent, actor }, _options, named) => {
      const { name } = services.sending_domains.get(named);
      services.sending_domains.requireUnnamed(name);
      const ids = services.mailboxes.list().flatMap(({ id, domain }) => (domain === name ? [id] : []));
      const waiting = services.emails.countWaitingFor(ids);
      const goes_along = `its DKIM key and ${counted(ids.length, 'mailbox', 'mailboxes')}`;
      const mails = counted(waiting, 'mail that waits for it', 'mails that wait for it');
      consent(`removes ${name} with ${goes_along}; ${mails} must find another mailbox or fail`);
      const removed = await services.sending_domains.remove(actor, name);
      return { json: removed, text: `${removed.name} is removed with ${goes_along}.` };
    });
  domain
    .noun('dkim', 'the key that its mail is signed with')
    .verb('rotate <name>', 'make a new key; mail is signed with it once its record is seen')
    .remark(`Until then mail is signed with the old key. The server looks for the new record at its start and each full hour, and
"satchel domain verify" looks at once. Leave the old record where it is until that says that it may go.`)
    .example('satchel domain dkim rotate mail.example.com')
    .does(async ({ services, actor }, _options, name) => {
      const rotation = await services.sending_domains.rotateDkim(actor, name);
      const record = presentRecords([rotation.record]);
      const text = `Publish this record beside the old one:\n\n${record}\n\nThen: satchel domain verify ${name}`;
      return { json: rotation, text };
    });
  return domain;
}

const presentChanged = (domain: DomainRecord) =>
  rowOf(
    domain,
    'domain=name default=is_default active=is_active verified=is_verified trusted=is_trusted mailboxes',
  );

function presentAdded({ name, is_default, is_trusted, records, advised }: AddedDomain): string {
  const next = is_trusted
    ? 'It is trusted, so it can be used at once; receivers still look for these records.'
    : `When they are published: satchel domain verify ${name}`;
  return `${name} was added${is_default ? ' and is the default' : ''}. Publish these records:

${presentRecords(records)}

${presentAdvice(advised)}

The SPF record gets what a well-known relay asks for with its mailbox: see it with satchel domain verify.
${next}
Then give it a mailbox: satchel mailbox add hello@${name} --smtp -`;
}

/** One block a record, its value on a line of its own: a DKIM key is too long for a table. */
function presentRecords(records: readonly DnsRecord[]): string {
  return records
    .map(({ purpose, type, name, value }) => `${titleOf(purpose)}\n  ${name}. ${type}\n  ${quoteTxt(value)}`)
    .join('\n\n');
}

function titleOf(purpose: DnsRecord['purpose']): string {
  return purpose.toUpperCase().replace('_', '-');
}

function presentAdvice(advised: readonly DnsRecord[]): string {
  return `Good to have, and asked for by nobody (MTA-STS also needs its policy at https://mta-sts.DOMAIN/.well-known/mta-sts.txt):\n\n${presentRecords(advised)}`;
}

function presentCheck({ records, bounces, dkim_rotation, advised }: DomainCheck): string {
  return [
    ...records.map(presentRecordCheck),
    ...bounces.map(presentBounces),
    ...(dkim_rotation ? [presentRotation(dkim_rotation)] : []),
    '',
    presentAdvice(advised),
  ].join('\n');
}

function presentRecordCheck(record: RecordCheck): string {
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
  const [, rua] = /\b(rua=\S+)/.exec(record.value) ?? [];
  if (record.status === 'found' && rua !== undefined && !record.found?.includes(rua.slice(4)))
    lines.push(
      `  reports: with ${rua} receivers tell who sends in its name: satchel domain reports ${record.name.replace(/^_dmarc\./, '')}`,
    );
  return lines.join('\n');
}

function presentBounces({ domain, takes_mail }: BounceCheck): string {
  const words = {
    yes: 'takes mail, so bounces arrive',
    no: 'takes no mail: bounces are lost. Give it an MX record, or its mailboxes a --return-path elsewhere',
    unknown: 'could not find out whether it takes mail',
  };
  return `BOUNCES  ${words[takes_mail]}  (${domain})`;
}

function presentRotation({ state, record, old_name, old_unneeded_from }: DkimRotation): string {
  return state === 'waiting'
    ? `NEW DKIM KEY  waits until its record is seen; mail is signed with the old key (${old_name})\n  publish: ${record.name}. ${record.type}\n           ${quoteTxt(record.value)}`
    : `NEW DKIM KEY  in use (${record.name}); the old record ${old_name} may go from ${old_unneeded_from}`;
}

function explainState(check: DomainRecord): string {
  if (check.is_verified) return `${check.name} is verified${check.is_default ? ', and is the default' : ''}.`;
  return check.is_trusted
    ? `${check.name} is not verified, but trusted, so it is used all the same.`
    : `${check.name} is not verified: ownership, SPF and DKIM must all be found. DMARC is needed for marketing only.`;
}
