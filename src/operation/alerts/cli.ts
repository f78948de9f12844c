/** `satchel alert`: who is told of problems. */
import { type Cli, EXIT } from '../../platform/cli/cli.ts';
import { readHiddenSecret } from '../../platform/cli/input.ts';
import { textOption } from '../../platform/cli/options.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type AlertsRecord, alertsChanges, FIELDS } from './schemas.ts';
import type { Alerts } from './service.ts';

interface Services {
  alerts: Alerts;
}

/** Registers `satchel alert set | show | test | off`. */
export function registerAlertCommands(cli: Cli<Services>): void {
  const alert = cli.noun('alert');
  alert
    .verb('set', 'change what is given of who is told')
    .option('--url <where>', 'a URL that is told by POST, a secret: -, @file or env:NAME; or empty for none')
    .changes(FIELDS, alertsChanges, {
      options: { url: '--url' },
      async more(options) {
        const url = textOption(options, 'url');
        if (url === undefined) return {};
        return { url: url === '' ? null : (await readHiddenSecret(cli, url, '--url')).trim() };
      },
      errorsIn: (sent, { services }) => services.alerts.errorsIn(sent),
    })
    .remark(`The mail goes through a mailbox of the default domain, else through any that delivers. With both a mail and a URL
each tells of the other where that fails. An ntfy topic that wants a login takes ?auth= in its URL.`)
    .example(
      'satchel alert set --email ops@example.com',
      'satchel alert set --url @/root/ntfy-url --format ntfy',
      'satchel alert set --no-backups-here    # the provider makes snapshots',
    )
    .shows(({ services, actor, sent }) => services.alerts.set(actor, sent), present);
  alert
    .verb('show', 'who is told, and whether that arrives')
    .example('satchel alert show')
    .shows(({ services }) => services.alerts.show(), present);
  alert
    .verb('test', 'send a test to all that are told, and say what came of it')
    .example('satchel alert test')
    .does(async ({ services, actor }) => {
      const tested = await services.alerts.test(actor);
      const { email, url } = tested;
      const by_url = url ? [{ to: services.alerts.nameOf('url'), ...url }] : [];
      const all = [...email, ...by_url];
      return {
        json: tested,
        text: all.map(({ to, ok, words }) => `${to}: ${ok ? 'taken' : `not taken. ${words}`}`).join('\n'),
        exit: all.every(({ ok }) => ok) ? EXIT.done : EXIT.refused,
      };
    });
  alert
    .verb('off', 'tell nobody any more, and forget the URL')
    .example('satchel alert off')
    .shows(({ services, actor }) => off(services.alerts, actor), present);
}

function off(alerts: Alerts, actor: Actor): Promise<AlertsRecord> {
  return alerts.set(actor, { email: null, url: null });
}

function present({ email, url, format, backups_here, last_sent_at, problem }: AlertsRecord): object | string {
  if (email.length === 0 && url === null)
    return `Nobody is told of problems.${backups_here ? '' : ' Backups are kept by somebody else.'}\n\nTo be told: satchel alert set --email ADDRESS`;
  return {
    email: email.length === 0 ? 'nobody' : email.join(', '),
    url: url === null ? 'none' : `${url}/... (${format})`,
    backups_here,
    last_sent: last_sent_at ?? 'never; try it: satchel alert test',
    ...(problem === null ? {} : { problem }),
  };
}
