/** `satchel email send`: one email, raw or from a template, now or later. */
import type { Projects } from '../../access/projects/service.ts';
import { AppError } from '../../errors.ts';
import { type Cli, type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { given, inOptions, pairsOption, readLongText } from '../../platform/cli/fields.ts';
import { collect, listOption, type Options, textOption } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { shellCaller } from '../../platform/cli/shell-actor.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { isServed } from '../../platform/host/directory-lock.ts';
import type { ProjectCaller } from '../../platform/http/routes.ts';
import { parse, requireAll, validate } from '../../platform/http/validation.ts';
import { keyOrAsGiven, type Naming } from '../../platform/words/phrases.ts';
import { CONTENT_FIELDS, sendBody, sendResult } from './schemas.ts';
import type { EmailRecord, Emails } from './service.ts';

/**
 * How often `email send --wait` looks, and for how long: a first attempt takes less, unless its mailbox is
 * paused or has no room.
 */
const EMAIL_WATCH_MS = 100;
const EMAIL_WAIT_MAX_MS = 5 * 60_000;

interface Services {
  emails: Emails;
  projects: Projects;
  template_names: Naming;
}

const OPTION_OF_FIELD = {
  to: '--to',
  to_name: '--to-name',
  subject: '--subject',
  body_text: '--text',
  body_html: '--html',
  template: '--template',
  variables: '--set',
  from: '--from',
  from_name: '--from-name',
  reply_to: '--reply-to',
  cc: '--cc',
  bcc: '--bcc',
  attachments: '--attach',
  domain: '--domain',
  scheduled_at: '--at',
};

/** Registers `satchel email send` below its noun. */
export function registerEmailSendCommand<S extends Services>(cli: Cli<S>, email: Noun<S>): void {
  email
    .verb('send', 'send one email')
    .ofProject()
    .requiredOption('--to <address>', 'who gets it')
    .option('--to-name <name>', 'their name')
    .option('--subject <text>', 'its subject')
    .option('--text <text>', 'its text; @file and - (standard input) are read')
    .option('--html <html>', 'its HTML, likewise')
    .option('--template <template>', 'a template in place of subject and bodies: its slug, name or id')
    .option('--set <name=value>', 'a value of a placeholder; may be repeated', collect)
    .option('--from <address>', 'the mailbox it goes out from, or not at all')
    .option('--from-name <name>', 'the name beside that')
    .option('--reply-to <address>', 'where answers go')
    .option('--cc <addresses>', 'who gets a copy', collect)
    .option('--bcc <addresses>', 'who gets one unseen', collect)
    .option('--attach <ids>', 'stored files to attach, by their ids', collect)
    .option('--domain <name>', 'the sending domain (the default, or another that has room)')
    .option('--at <time>', 'when, such as 2031-06-01T09:00:00Z; now unless given')
    .option('--wait', 'wait for its first attempt; ends with 1 where it is not sent')
    .example(
      "satchel email send --project shop --to ann@example.org --subject Hello --text 'Hi!'",
      'satchel email send --project shop --to ann@example.org --template welcome --set name=Ann --wait',
    )
    .does(async (session, options) => {
      const { services, config, note } = session;
      const { emails } = services;
      const is_served = isServed(config.data_dir);
      const waits = options.wait === true;
      if (waits && options.at !== undefined) throw new UsageError('--wait and --at do not go together.');
      if (waits && !is_served)
        throw new AppError('conflict', `${notServed(config.data_dir)} Leave out --wait to queue it.`);
      const caller = shellCaller(session, projectOf(services, options));
      const template = keyOrAsGiven(services.template_names, caller.project, textOption(options, 'template'));
      const body = given({ ...(await fieldsOf(cli, options)), template });
      const id = await inOptions(OPTION_OF_FIELD, () => send(emails, caller, body));
      if (!is_served) note(`satchel: ${notServed(config.data_dir)}`);
      return present(waits ? await standing(emails, caller, id) : emails.get(caller.project, id), waits);
    });
}

function notServed(data_dir: string): string {
  return `No server serves ${data_dir}: it is sent once satchel serve does.`;
}

async function fieldsOf<S>(cli: Cli<S>, options: Options): Promise<Record<string, unknown>> {
  if (options.text === '-' && options.html === '-')
    throw new UsageError('Only one of --text and --html can come from standard input.');
  const all = (name: string) => (options[name] === undefined ? undefined : listOption(options, name));
  return {
    to: textOption(options, 'to'),
    to_name: textOption(options, 'toName'),
    subject: textOption(options, 'subject'),
    body_text: await readLongText(cli, textOption(options, 'text')),
    body_html: await readLongText(cli, textOption(options, 'html')),
    variables: pairsOption(options, 'set'),
    from: textOption(options, 'from'),
    from_name: textOption(options, 'fromName'),
    reply_to: textOption(options, 'replyTo'),
    cc: all('cc'),
    bcc: all('bcc'),
    attachments: all('attach'),
    domain: textOption(options, 'domain'),
    scheduled_at: textOption(options, 'at'),
  };
}

/** Queues a mail, whatever is wrong with it told at once, and returns its id. */
async function send(emails: Emails, caller: ProjectCaller, given: Record<string, unknown>): Promise<string> {
  const sent = validate(sendBody, given);
  const body = requireAll(sent, (sound) => emails.errorsIn(caller, sound), CONTENT_FIELDS);
  const idempotency = { project_id: caller.project.id, caller: caller.identity, key: null, acceptAgain() {} };
  const { value } = await emails.send(caller, body, {
    idempotency,
    hash: () => '',
    ip: null,
    user_agent: null,
  });
  return parse(sendResult, value).id;
}

/** How it stands after its first attempt, or once it has waited for that in vain. */
async function standing(emails: Emails, { project }: ProjectCaller, id: string): Promise<EmailRecord> {
  for (let waited_ms = 0; ; waited_ms += EMAIL_WATCH_MS) {
    const record = emails.get(project, id);
    const is_under_way = record.status === 'sending' || (record.status === 'queued' && record.attempts === 0);
    if (!is_under_way || waited_ms >= EMAIL_WAIT_MAX_MS) return record;
    await Bun.sleep(EMAIL_WATCH_MS);
  }
}

function present(record: EmailRecord, waited: boolean): CliResult {
  const { id, status, to, from_email, scheduled_at, error } = record;
  const how = status === 'scheduled' ? `${status} for ${scheduled_at}` : status;
  const lines = [id, `To ${to}, from ${from_email}: ${how}.${error ? ` ${error}` : ''}`];
  const is_sent = status === 'sent' || status === 'delivered';
  return {
    json: record,
    text: [...lines, `What becomes of it: satchel email why ${id}`].join('\n'),
    exit: waited && !is_sent ? EXIT.refused : EXIT.done,
  };
}
