/** `satchel key smtp`: what an app that speaks SMTP is to be set to. */
import type { Keys } from '../../access/keys/service.ts';
import type { Config } from '../../config.ts';
import { conflict } from '../../errors.ts';
import { textOption } from '../../platform/cli/options.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { accessOf } from './service.ts';

/** Registers `satchel key smtp`. */
export function registerSmtpCommand(key: Noun<{ keys: Keys; config: Config }>): void {
  key
    .verb('smtp <key>', 'what an app that sends by SMTP with a key is to be set to; the password is the key')
    .option('--project <project>', 'its project, where <key> is its name rather than its id or prefix')
    .remark('Exit status: 1 where no SMTP server is set (SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT).')
    .example('satchel key smtp 12')
    .does(async ({ services }, options, ref) => {
      const found = services.keys.require(ref, textOption(options, 'project'));
      const json = accessOf(services.config);
      if (!json)
        throw conflict(
          'No SMTP server is set. Set SATCHEL_SMTP_PORT, or SATCHEL_SMTPS_PORT, and start the server again.',
        );
      const how = { tls: 'TLS from the first byte (SSL/TLS)', starttls: 'STARTTLS', none: 'none' }[json.tls];
      const text = `host      ${json.host}\nport      ${json.port}\ntls       ${how}\nuser      ${json.user} (any name does)\npassword  key ${found.id} (${found.name}): satchel key reveal ${found.id}`;
      return { json, text };
    });
}
