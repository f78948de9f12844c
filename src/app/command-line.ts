/** The whole command line, apart from the process that it runs in. */
import { Command } from 'commander';
import {
  Cli,
  type CliHost,
  type CliProcess,
  COMPLETE_VERB,
  ENV_FILE_VERB,
  type FirstWord,
  UsageError,
} from '../platform/cli/cli.ts';
import { envFileOption } from '../platform/cli/options.ts';
import { formatFields } from '../platform/cli/tables.ts';
import { systemClock } from '../platform/host/clock.ts';
import type { Services } from './app.ts';

/** Every verb there is. Of nouns only the one that is named is loaded; nothing is opened before a verb runs. */
export function createCli(process: CliProcess): Cli<Services> {
  const program = new Command('satchel')
    .description('Files, email, secrets and API keys for a small team: one executable, one data directory.')
    .addHelpText(
      'after',
      `
Examples:
  satchel serve                         # start the server on http://127.0.0.1:8420
  satchel project create --name Shop    # a project is what keys, files and mail belong to
  satchel key create --project shop --name web --can read,write,email
  satchel help key                      # what can be done with keys; likewise with every noun
  satchel --version                     # which Satchel this is, as satchel version

A table that is wider than the terminal, or than COLUMNS says, leaves out its last columns, and says which;
in a pipe or a file it has them all. With --json a refusal is a document too: {"error":{"code","message"}}.`,
    );
  const open: CliHost<Services>['open'] = async (config) =>
    (await import('./open-services.ts')).openServices(config);
  return new Cli(program, { process, clock: systemClock, words: FIRST_WORDS, open });
}

/** `satchel version`. */
function registerVersion(cli: Cli<Services>): void {
  cli
    .command('version')
    .addOption(envFileOption())
    .option('--json', 'print exactly one JSON document on stdout')
    .addHelpText('after', '\nExample:\n  satchel version --json')
    .action(async (_: unknown, command: Command) => {
      const { BACKEND_VERSION, VERSION } = await import('../version.ts');
      const options: Record<string, unknown> = command.optsWithGlobals();
      const version = { version: VERSION, backend_version: BACKEND_VERSION };
      cli.print(options.json === true ? JSON.stringify(version) : formatFields(version));
    });
}

/* --- What a line may begin with, in help's order ------------------------------------------------------------------ */

/** `usage` and `about` are help's; see `FirstWord`. A verb loads the modules of its own noun alone. */
function word(
  usage: string,
  about: string | null,
  register: FirstWord<Services>['register'],
): FirstWord<Services> {
  return { usage, about, register };
}

/** Those that are hidden have their names from where they are made. */
const FIRST_WORDS: readonly FirstWord<Services>[] = [
  word(
    'serve [options]',
    'start the server; it is ready when it prints "satchel listening on ..."',
    async (cli) => (await import('./serve-cli.ts')).registerServe(cli),
  ),
  word('token', 'access tokens of the management plane', async (cli) =>
    (await import('../access/tokens/cli.ts')).registerTokenCommands(cli),
  ),
  word('person', 'people who sign in to the console', async (cli) =>
    (await import('../access/people/cli.ts')).registerPersonCommands(cli),
  ),
  word('project', 'what keys, files, mail and secrets belong to', async (cli) => {
    const project = (await import('../access/projects/cli.ts')).registerProjectCommands(cli);
    (await import('../operation/overview/cli.ts')).registerActivityCommand(project);
    (await import('../operation/transfers/cli.ts')).registerTransferCommands(cli, project);
  }),
  word('key', 'API keys of projects, and the origins they are restricted to', async (cli) => {
    const key = (await import('../access/keys/cli.ts')).registerKeyCommands(cli);
    (await import('../access/origins/cli.ts')).registerKeyOrigins(key);
    (await import('../mail/submission/cli.ts')).registerSmtpCommand(key);
  }),
  word('origin', 'origins that every restricted key accepts', async (cli) =>
    (await import('../access/origins/cli.ts')).registerGlobalOrigins(cli),
  ),
  word('object', 'stored files', async (cli) =>
    (await import('../files/objects/cli.ts')).registerObjectCommands(cli),
  ),
  word('audit', 'who did what, when and from where', async (cli) =>
    (await import('../access/audit/cli.ts')).registerAuditCommands(cli),
  ),
  word('vault', "credentials and configuration files of a project's services", async (cli) =>
    (await import('../secrets/vault/cli.ts')).registerVaultCommands(cli),
  ),
  word('environment', 'environments of a vault, such as staging, beside production', async (cli) =>
    (await import('../secrets/vault/environment-cli.ts')).registerEnvironmentCommands(cli),
  ),
  word('domain', 'domains that mail goes out from, and the DNS records they need', async (cli) => {
    const domain = (await import('../mail/sending-domains/cli.ts')).registerDomainCommands(cli);
    (await import('../mail/domain-reports/cli.ts')).registerDomainReportCommand(domain);
  }),
  word('mailbox', 'addresses that mail goes out from, each with its relay', async (cli) =>
    (await import('../mail/mailboxes/cli.ts')).registerMailboxCommands(cli),
  ),
  word('email', 'why an email was or was not sent, what was captured, trying again', async (cli) => {
    const email = (await import('../mail/deliveries/cli.ts')).registerEmailCommands(cli);
    (await import('../mail/emails/send-cli.ts')).registerEmailSendCommand(email);
    (await import('../mail/emails/cli.ts')).registerEmailLogCommand(email);
  }),
  word('template', 'saved emails with placeholders', async (cli) =>
    (await import('../mail/templates/cli.ts')).registerTemplateCommands(cli),
  ),
  word('schedule', 'recurring emails', async (cli) =>
    (await import('../mail/schedules/cli.ts')).registerScheduleCommands(cli),
  ),
  word('job', 'what is done outside requests, such as sending', async (cli) =>
    (await import('../operation/jobs/cli.ts')).registerJobCommands(cli),
  ),
  word('marketing', "a project's marketing: its sender, its look, its times", async (cli) =>
    (await import('../marketing/settings/cli.ts')).registerMarketingCommands(cli),
  ),
  word('list', 'the lists that contacts are on', async (cli) =>
    (await import('../marketing/lists/cli.ts')).registerListCommands(cli),
  ),
  word('segment', 'filters of a list, kept under a name', async (cli) =>
    (await import('../marketing/segments/cli.ts')).registerSegmentCommands(cli),
  ),
  word('contact', 'who is on a list, and what is held about an address', async (cli) =>
    (await import('../marketing/contacts/cli.ts')).registerContactCommands(cli),
  ),
  word('import', 'contacts from a CSV file', async (cli) =>
    (await import('../marketing/imports/cli.ts')).registerImportCommands(cli),
  ),
  word('suppression', 'addresses that get no marketing mail of a project', async (cli) =>
    (await import('../marketing/suppressions/cli.ts')).registerSuppressionCommands(cli),
  ),
  word('sequence', 'mails that follow one another, for the contacts of a list', async (cli) =>
    (await import('../marketing/sequences/cli.ts')).registerSequenceCommands(cli),
  ),
  word('broadcast', 'newsletters: one mail to a list', async (cli) =>
    (await import('../marketing/broadcasts/cli.ts')).registerBroadcastCommands(cli),
  ),
  word('webhook', 'URLs that are told what happens in a project', async (cli) =>
    (await import('../webhooks/cli.ts')).registerWebhookCommands(cli),
  ),
  word(
    'backup [options] <file>',
    'write everything but the master key to one new file, while the server runs',
    async (cli) => (await import('../operation/backups/cli.ts')).registerBackup(cli, cli.host.clock),
  ),
  word(
    'restore [options] <file>',
    'put a backup into the data directory; the server must be stopped',
    async (cli) => (await import('../operation/backups/cli.ts')).registerRestore(cli, cli.host.clock),
  ),
  word('release [options]', 'let go what a restore holds, with the server or without', async (cli) =>
    (await import('../operation/holds/cli.ts')).registerReleaseCommand(cli),
  ),
  word(
    'verify [options] <file>',
    'read a whole backup, restore it to a scratch folder, and check all of it',
    async (cli) => (await import('../operation/backups/cli.ts')).registerVerify(cli),
  ),
  word('replica', 'a copy of the database in an S3 store, kept a second behind by Litestream', async (cli) =>
    (await import('../operation/replica/cli.ts')).registerReplicaCommands(cli, cli.host.clock),
  ),
  word('master-key', 'the key that all stored secrets depend on', async (cli) =>
    (await import('../platform/cli/platform-verbs.ts')).registerMasterKeyCommand(cli, cli.host.clock),
  ),
  word(
    'doctor [options]',
    'look for what is wrong, and name the command that mends it; changes nothing',
    async (cli) => {
      const { doctorDeps } = await import('./checks.ts');
      (await import('../operation/doctor/cli.ts')).registerDoctorCommand(cli, doctorDeps(cli.host.clock));
    },
  ),
  word('health [options]', 'ask the running server how it is, for what watches it', async (cli) =>
    (await import('../operation/status/cli.ts')).registerHealthCommand(cli),
  ),
  word('alert', 'who is told when something is wrong', async (cli) =>
    (await import('../operation/alerts/cli.ts')).registerAlertCommands(cli),
  ),
  word(
    'migrate [options]',
    'bring the database up to date, as the next start of the server would',
    async (cli) =>
      (await import('../platform/cli/platform-verbs.ts')).registerMigrateCommand(cli, cli.host.clock),
  ),
  word('client', 'typed clients of the API, for apps', async (cli) => {
    const { describeApi } = await import('./open-services.ts');
    (await import('../operation/client/cli.ts')).registerClientCommands(cli, describeApi);
  }),
  word('mcp [options]', 'tools for an assistant, over stdin and stdout', async (cli) => {
    const { openForTools } = await import('./open-services.ts');
    (await import('../operation/mcp/cli.ts')).registerMcpCommand(cli, openForTools);
  }),
  word(
    'completion <shell>',
    'print a script that completes commands, options and some values (projects, keys, capabilities) in a shell',
    async (cli) => (await import('../platform/cli/completion.ts')).registerCompletionCommand(cli),
  ),
  word('version [options]', 'which Satchel this is', async (cli) => registerVersion(cli)),
  word(COMPLETE_VERB, null, async (cli) => {
    const { completedValues } = await import('./completed-values.ts');
    (await import('../platform/cli/completion.ts')).registerCompleteCommand(cli, completedValues(cli));
  }),
  word(ENV_FILE_VERB, null, async (cli) =>
    (await import('../platform/cli/platform-verbs.ts')).registerEnvFileVerb(cli),
  ),
  word('__make_variants', null, async (cli) => {
    const { makeVariants } = await import('../files/variants/making.ts');
    cli.command('__make_variants').action(async () => {
      const made = makeVariants();
      if (made === null) throw new UsageError('__make_variants is for a server to start');
      await made;
    });
  }),
];
