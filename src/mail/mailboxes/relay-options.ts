/** The relay of a mailbox on the command line: as an URL, in parts, or by the name of its provider. */
import { Option } from 'commander';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { isIndirect, readHiddenSecret, readSecret } from '../../platform/cli/input.ts';
import { numberOption, type Options, textOption, wholeNumber } from '../../platform/cli/options.ts';
import type { Verb } from '../../platform/cli/verb.ts';
import { hasPassword, parseRelay, RELAY_TLS, type Relay, type RelayParts } from './relay.ts';
import { findProvider, PROVIDER_FORM, usualUserOf } from './relay-providers.ts';

export function withRelayOptions<S>(verb: Verb<S>): Verb<S> {
  return verb
    .option('--smtp-host <host>', 'the relay that takes its mail')
    .option('--smtp-port <port>', '587 unless given, 465 with tls', wholeNumber(1))
    .option('--smtp-user <user>', 'whom to log in as there; @file and env:NAME, too')
    .option('--smtp-password <password>', '-, @file or env:NAME that hold it, just as it is')
    .addOption(
      new Option(
        '--smtp-tls <tls>',
        'from the first byte; STARTTLS or nothing; STARTTLS where it is offered; never',
      ).choices(RELAY_TLS),
    )
    .option('--provider <name>', `${PROVIDER_FORM}: its host, with STARTTLS or nothing`)
    .option(
      '--smtp <relay>',
      'all in one: smtp[s]://user:password@host:port[?tls=required&dkim=off], or -, @file, env:NAME that hold it',
    )
    .option('--capture', 'keep what is sent instead of delivering it (satchel email captured)');
}

/**
 * What options say of a relay: one that is whole, or parts; `null` captures. Nothing where they say nothing
 * of it.
 */
export async function readRelayOptions<S>(
  cli: Cli<S>,
  options: Options,
): Promise<{ relay?: Relay | null; relay_parts?: RelayParts }> {
  const smtp = textOption(options, 'smtp');
  const has_parts = PART_OPTIONS.some((name) => options[name] !== undefined);
  const ways = [smtp !== undefined, has_parts, options.capture === true].filter(Boolean).length;
  if (ways > 1)
    throw new UsageError(
      'Give a relay in parts (--smtp-host or --provider), --smtp, or --capture: one of them.',
    );
  if (smtp !== undefined) return { relay: await readRelayUrl(cli, smtp) };
  if (options.capture === true) return { relay: null };
  return has_parts ? { relay_parts: await readParts(cli, options) } : {};
}

const PART_OPTIONS = ['smtpHost', 'smtpPort', 'smtpUser', 'smtpPassword', 'smtpTls', 'provider'];

async function readParts<S>(cli: Cli<S>, options: Options): Promise<RelayParts> {
  const host = textOption(options, 'smtpHost');
  const name = textOption(options, 'provider');
  if (host !== undefined && name !== undefined)
    throw new UsageError('Give either --smtp-host or --provider, which names the host.');
  const provider = name === undefined ? null : findProvider(name);
  if (name !== undefined && provider === null) throw new UsageError(`--provider takes ${PROVIDER_FORM}.`);
  const given = textOption(options, 'smtpPassword');
  const password = given === undefined ? undefined : await readHiddenSecret(cli, given, '--smtp-password');
  const named_user = textOption(options, 'smtpUser');
  const user =
    named_user !== undefined && named_user !== '-' && isIndirect(named_user)
      ? await readSecret(cli, named_user, "the relay's user name")
      : named_user;
  const usual_user = name === undefined || password === undefined ? null : usualUserOf(name, password);
  const tls = RELAY_TLS.find((word) => word === options.smtpTls);
  // With TLS from the first byte, the provider's port for STARTTLS is the wrong one.
  const port = numberOption(options, 'smtpPort') ?? (tls === 'tls' ? undefined : provider?.port);
  const parts: RelayParts = { ...provider, port };
  if (host !== undefined) parts.host = host;
  if (tls !== undefined) parts.tls = tls;
  if (password !== undefined) parts.password = password;
  if (options.smtpUser === false) parts.user = null;
  else if (user !== undefined || usual_user !== null) parts.user = user ?? usual_user;
  return parts;
}

async function readRelayUrl<S>(cli: Cli<S>, smtp: string): Promise<Relay> {
  // An address of a relay without a password is no secret.
  const is_plain = /^smtps?:/i.test(smtp) && !hasPassword(smtp);
  return parseRelay(is_plain ? smtp : await readSecret(cli, smtp, "the relay's password"));
}
