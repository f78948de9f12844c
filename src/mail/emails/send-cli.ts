/** `satchel email send`: one email, raw or from a template, now or later. */
import type { Projects } from '../../access/projects/service.ts';
import { AppError } from '../../errors.ts';
import { type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { shellCaller } from '../../platform/cli/shell-actor.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { isServed } from '../../platform/host/directory-lock.ts';
import type { ProjectCaller } from '../../platform/http/routes.ts';
import { parse } from '../../platform/http/validation.ts';
import { keyOrAsGiven, type Naming } from '../../platform/words/phrases.ts';
import { CONTENT_FIELDS, type SendBody, sendBody, sendResult } from './schemas.ts';
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

const FIELDS = fieldsOf(sendBody, {
  to: ['--to <address>', 'who gets it'],
  to_name: ['--to-name <name>', 'their name'],
  subject: ['--subject <text>', 'its subject'],
  body_text: ['--text <text>', 'its text', { is_long: true }],
  body_html: ['--html <html>', 'its HTML', { is_long: true }],
  template: ['--template <template>', 'a template in place of subject and bodies: its slug, name or id'],
  variables: ['--set <name=value>', 'a value of a placeholder'],
  from: ['--from <address>', 'the mailbox it goes out from, or not at all'],
  from_name: ['--from-name <name>', 'the name beside that'],
  reply_to: ['--reply-to <address>', 'where answers go'],
  cc: ['--cc <addresses>', 'who gets a copy'],
  bcc: ['--bcc <addresses>', 'who gets one unseen'],
  attachments: ['--attach <ids>', 'stored files to attach, by their ids'],
  domain: ['--domain <name>', 'the sending domain (the default, or another that has room)'],
  scheduled_at: ['--at <time>', 'when, such as 2031-06-01T09:00:00Z; now unless given'],
});

/** Registers `satchel email send` below its noun. */
export function registerEmailSendCommand(email: Noun<Services>): void {
  email
    .verb('send', 'send one email')
    .ofProject()
    .takes(FIELDS, sendBody, {
      reads: {
        template: (ref, { services, project }) => keyOrAsGiven(services.template_names, project, ref),
      },
      together: CONTENT_FIELDS,
      errorsIn: (sound, session) =>
        session.services.emails.errorsIn(shellCaller(session, session.project), sound),
    })
    .option('--wait', 'wait for its first attempt; ends with 1 where it is not sent')
    .example(
      "satchel email send --project shop --to ann@example.org --subject Hello --text 'Hi!'",
      'satchel email send --project shop --to ann@example.org --template welcome --set name=Ann --wait',
    )
    .does(async (session, options) => {
      const { services, project, config, sent, note } = session;
      const { emails } = services;
      const is_served = isServed(config.data_dir);
      const waits = options.wait === true;
      if (waits && sent.scheduled_at !== undefined)
        throw new UsageError('--wait and --at do not go together.');
      if (waits && !is_served)
        throw new AppError('conflict', `${notServed(config.data_dir)} Leave out --wait to queue it.`);
      const caller = shellCaller(session, project);
      const id = await send(emails, caller, sent);
      if (!is_served) note(`satchel: ${notServed(config.data_dir)}`);
      return present(waits ? await standing(emails, caller, id) : emails.get(caller.project, id), waits);
    });
}

function notServed(data_dir: string): string {
  return `No server serves ${data_dir}: it is sent once satchel serve does.`;
}

/** Queues a mail and returns its id. */
async function send(emails: Emails, caller: ProjectCaller, body: SendBody): Promise<string> {
  const idempotency = { project_id: caller.project.id, caller: caller.identity, key: null, acceptAgain() {} };
  const { value } = await emails.send(caller, body, {
    idempotency,
    hash: () => '',
    ip: null,
    user_agent: null,
  });
  return parse(sendResult, value).id;
}

/** The mail after its first attempt, or once that was waited for in vain. */
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
