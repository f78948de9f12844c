/** `satchel suppression`: the addresses that get no marketing mail of a project. */
import { type Cli, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import { momentSince, textOption, textOptions } from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun, OnProject, VerbSession } from '../../platform/cli/verb.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { MarketingServices } from '../cli-services.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { SuppressionKind } from './service.ts';

/** Registers `satchel suppression list | add | remove`. */
export function registerSuppressionCommands(cli: Cli<MarketingServices>): void {
  const suppression = cli.noun('suppression');
  suppression
    .verb('list', 'suppressions of a project as hashes, newest first')
    .ofProject()
    .option('--address <address>', 'only that of this address')
    .example('satchel suppression list --project shop --address ann@example.com')
    .lists(
      ({ services, project, page }, options) => {
        const address = textOption(options, 'address');
        return address === undefined
          ? services.suppressions.list(project, page)
          : services.suppressions.lookUp(project, address, page);
      },
      (one) => rowOf(one, 'kind since=created_at hash'),
      'No address is suppressed.',
    );
  suppression
    .verb('add <address>', 'suppress an address in a project')
    .ofProject()
    .example('satchel suppression add ann@example.com --project shop')
    .does(async ({ services, project, trail }, _options, address) => {
      const { record, is_new } = await services.contacts.suppress(project, address, trail);
      const what = is_new ? 'is suppressed' : `was suppressed already (${record.kind})`;
      return { json: record, text: `${address} ${what} in ${project.name}.` };
    });
  registerRemove(suppression);
}

type Shell = VerbSession<MarketingServices> &
  OnProject<KeyOwner & { name: string }> & { consent(what: string): void };

function registerRemove(suppression: Noun<MarketingServices>): void {
  suppression
    .verb(
      'remove [address]',
      'lift the suppression of an address, or of many: false bounces, or what an import said',
    )
    .ofProject()
    .option('--kind <kind>', 'in bulk: hard_bounce, the only kind that is lifted so')
    .option('--since <time>', 'in bulk: those since then, such as 2030-01-31T09:00:00Z, 90m, 6h or 2d')
    .option('--mailbox <address>', "in bulk: only where it was this mailbox's mail that came back")
    .option('--import <import>', 'in bulk: what this import suppressed')
    .remark(`Lifting a hard bounce gives contacts of the address that bounced the status that they had. Whoever unsubscribed or
complained keeps that status until they sign up again by double opt-in. Suppressions from before mailboxes were noted are
of none. Taking back what an import suppressed gives contacts the status that they had, unless it changed since; what an
address is suppressed for besides stays.`)
    .example(
      'satchel suppression remove ann@example.com --project shop --yes',
      'satchel suppression remove --project shop --kind hard_bounce --since 6h --mailbox news@mail.example.com --yes',
      'satchel suppression remove --project shop --import 01J00000000000000000000000 --yes',
    )
    .removes(async (session, options, address?: string) => {
      const { services, project, consent, actor } = session;
      const { kind, since, mailbox } = textOptions(options, 'kind', 'since', 'mailbox');
      const of_import = textOption(options, 'import');
      const is_of_bounces = kind !== undefined || since !== undefined || mailbox !== undefined;
      if (of_import !== undefined) {
        if (address !== undefined || is_of_bounces)
          throw new UsageError('--import stands alone: give no address, --kind, --since or --mailbox.');
        return liftImport(session, of_import);
      }
      if (address === undefined) {
        if (kind === undefined || since === undefined)
          throw new UsageError(
            'Name the address, or give --import, or --kind hard_bounce together with --since.',
          );
        if (kind !== 'hard_bounce')
          throw new UsageError('--kind takes hard_bounce only: lift any other by its address.');
        return liftBounces(session, { since, mailbox: mailbox ?? null });
      }
      if (is_of_bounces)
        throw new UsageError('--kind, --since and --mailbox are for lifting in bulk: give no address.');
      const found = services.suppressions.find(project, address);
      if (found) consent(`lifts a suppression (${found.kind}, since ${found.created_at})`);
      const lifted = await services.suppressions.lift(actor, project, { address });
      const text = `${address} is no longer suppressed in ${project.name}. ${CONSEQUENCES[lifted.kind]}`;
      return { json: lifted, text };
    });
}

async function liftImport({ services, project, consent, actor }: Shell, id: string): Promise<CliResult> {
  const { suppressions, imports } = services;
  const import_id = imports.requireEnded(project.id, id).id;
  const count = suppressions.countImported(import_id);
  const suppressionsOf = (n: number): string => counted(n, 'suppression', 'suppressions');
  if (count > 0) consent(`takes back ${suppressionsOf(count)} of this import`);
  const done = await suppressions.liftImport(actor, project, import_id);
  const kept = done.kept === 0 ? '' : ` ${suppressionsOf(done.kept)} stay, for other reasons.`;
  const contacts = `${counted(done.restored, 'contact has', 'contacts have')} the status that they had`;
  const text = `Lifted in ${project.name}: ${suppressionsOf(done.lifted)} of the import. ${contacts}.${kept}`;
  return { json: done, text };
}

async function liftBounces(
  { services, project, consent, actor }: Shell,
  { since, mailbox }: { since: string; mailbox: string | null },
): Promise<CliResult> {
  const of = { since_ms: momentSince(since, services.clock.now()), mailbox };
  const count = services.suppressions.countBounces(project, of);
  if (count > 0) consent(`lifts ${count} suppressions (hard_bounce)`);
  const done = await services.suppressions.liftBounces(actor, project, of);
  const contacts = `${done.restored} contacts that bounced have the status that they had`;
  return { json: done, text: `${done.lifted} suppressions of ${project.name} are lifted; ${contacts}.` };
}

/** Says what lifting does to the contacts of an address. */
const CONSEQUENCES: Readonly<Record<SuppressionKind, string>> = {
  manual: 'It may be added to lists again, and contacts of it that are active get marketing again.',
  hard_bounce:
    'It may be added to lists again, and contacts of it that bounced have the status that they had.',
  unsubscribed:
    'It may be added to lists where it is not yet; contacts that left stay so until the person signs up again by double opt-in.',
  complaint:
    'It may be added to lists where it is not yet; contacts that complained stay so until the person signs up again by double opt-in.',
};
