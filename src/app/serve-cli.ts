/** `satchel serve` and its options. */
import type { Command } from 'commander';
import type { ConfigFlags } from '../config.ts';
import { keptSecrets, notedSettings } from '../noted-settings.ts';
import { type Cli, UsageError } from '../platform/cli/cli.ts';
import { envFileOption, textOption } from '../platform/cli/options.ts';
import { serviceLinksIn, withoutServiceLinks } from '../settings.ts';
import type { Services } from './app.ts';
import { serve } from './serve.ts';

export function registerServe(cli: Cli<Services>): void {
  cli
    .command('serve')
    .option('--data-dir <dir>', 'database, objects, master key (SATCHEL_DATA_DIR, else ./data)')
    .addOption(envFileOption())
    .option('--host <host>', 'address to listen on (SATCHEL_HOST, else 127.0.0.1)')
    .option('--port <port>', 'port to listen on (SATCHEL_PORT, else 8420)')
    .option('--public-url <url>', 'what links in answers and mails start with (SATCHEL_PUBLIC_URL)')
    .option(
      '--tls <names>',
      'serve https at these names, comma-separated, with certificates by ACME (SATCHEL_TLS)',
    )
    .option(
      '--acme-directory <url>',
      "the authority's directory (SATCHEL_ACME_DIRECTORY, else Let's Encrypt)",
    )
    .option('--acme-email <address>', 'where the authority writes to (SATCHEL_ACME_EMAIL)')
    .option('--tls-http-port <port>', 'port that http://NAME arrives at (SATCHEL_TLS_HTTP_PORT, else 80)')
    .option('--take-over', 'go on in place of another Satchel that uses the object store')
    .option('--now', 'with --take-over: do not wait until the other one has been silent for 90 s')
    .option(
      '--new-store-owner',
      'use an object store whose files this database does not know; they go after 7 days',
    )
    .addHelpText(
      'after',
      `
All other settings are environment variables: see /docs/guide/configuration. Of all Satchels that use one object
store (SATCHEL_OBJECT_STORE), one serves: another is refused, until it is told to take over, once. The
one before then answers whoever reads, and changes and sends nothing any more. A database that knows
none of the files in a store is refused whatever it is told, but for --new-store-owner: restore theirs first.

With --tls it listens at all addresses, on port 443, and on port 80, where the authority looks and everybody
else is sent on to https; links start with the first name. The names must lead to this machine before. Certificates
are renewed in time. To use it is to agree to the authority's terms.

Examples:
  satchel serve
  satchel serve --data-dir /var/lib/satchel --port 8080 --public-url https://files.example.com
  satchel serve --tls example.com,www.example.com --acme-email admin@example.com
  satchel serve --take-over --now       # another machine is lost, and this has its database`,
    )
    .action(async (_: unknown, command: Command) => {
      const options: Record<string, unknown> = command.optsWithGlobals();
      const flag = (name: string): string | undefined => textOption(options, name);
      const flags: ConfigFlags = {
        data_dir: flag('dataDir'),
        host: flag('host'),
        port: flag('port'),
        public_url: flag('publicUrl'),
        tls: flag('tls'),
        acme_directory: flag('acmeDirectory'),
        acme_email: flag('acmeEmail'),
        tls_http_port: flag('tlsHttpPort'),
      };
      const config = cli.loadConfig(flags);
      const take_over = {
        take_over: options.takeOver === true,
        now: options.now === true,
        new_owner: options.newStoreOwner === true,
      };
      if (take_over.now && !take_over.take_over) throw new UsageError('--now goes with --take-over');
      if ((take_over.take_over || take_over.new_owner) && !config.object_store)
        throw new UsageError(
          `${take_over.take_over ? '--take-over' : '--new-store-owner'} needs SATCHEL_OBJECT_STORE: without a store there is nothing to take over`,
        );
      const environment = withoutServiceLinks(cli.host.process.environment);
      const links = serviceLinksIn(cli.host.process.environment);
      const noteAt = (port: number) => ({
        settings: notedSettings(environment, flags, { ...config, port }),
        kept: keptSecrets(environment),
      });
      cli.exitWith(await serve(config, cli, { take_over, noteAt, links }));
    });
}
