/**
 * `satchel email`: why an email was or was not sent, what was captured, saying that one came back, and
 * queueing failed ones again.
 */
import { SOFT_BOUNCE_DAYS_TO_HARD } from '../../limits.ts';
import { type Cli, type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { readSecretBytes } from '../../platform/cli/input.ts';
import { momentSince, textOption } from '../../platform/cli/options.ts';
import { addPaging, pageOf, presentPage } from '../../platform/cli/paging.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Deliveries, TakenReport } from './service.ts';

interface Needs {
  deliveries: Deliveries;
  clock: Clock;
}

/**
 * Registers `satchel email why | captured | bounce | retry`, and returns the noun for the verbs of the log.
 */
export function registerEmailCommands<S extends Needs>(cli: Cli<S>): Noun<S> {
  const email = cli.noun('email');
  email
    .verb('why <id>', 'what happened to an email, and what comes next')
    .example('satchel email why 01J00000000000000000000000')
    .does(({ services }, _options, id) => {
      const { email: record, story, events } = services.deliveries.explain(id);
      return { json: { ...record, story, events }, text: story.join('\n') };
    });
  addPaging(
    email.verb('captured [id]', 'what capturing mailboxes and test keys hold; with an id the message itself'),
  )
    .example('satchel email captured', 'satchel email captured 01J00000000000000000000000 > message.eml')
    .does(async (session, options, id?: string) => {
      const { services } = session;
      if (id !== undefined) {
        const message = await services.deliveries.readCaptured(id);
        return { json: message, text: message.raw };
      }
      return presentPage(session, options, services.deliveries.listCaptured(pageOf(options)), {
        row: ({ email_id, to, subject, from, captured_at }) => ({
          email: email_id,
          to: to.join(', '),
          subject,
          from,
          captured: captured_at,
        }),
        empty: 'Nothing was captured yet.',
      });
    });
  registerBounce(cli, email);
  registerRetry(email);
  return email;
}

function registerBounce<S extends Needs>(cli: Cli<S>, email: Noun<S>): void {
  email
    .verb('bounce [id]', 'say that an email came back, or was complained about')
    .option('--soft', 'it came back for a reason that may pass, such as a full mailbox')
    .option('--complaint', 'its recipient reported it as unwanted')
    .option('--recipient <address>', 'whom it concerns, where copies went out (who it was sent to)')
    .option('--report <file>', 'read it from the message of a mail server (- is standard input)')
    .remark(`A bounce for good and a complaint keep marketing from the address; soft ones on ${SOFT_BOUNCE_DAYS_TO_HARD} different days (UTC), without a
delivery, an open or a click between, count as one for good. What is said of somebody who got a copy changes the email's
story only, and so does a report of a server that would not take it because of the mailbox it came from.

A report (delivery status or feedback report, as it came) is believed where it returns headers that this server
signed, or came to the return path of one mail.`)
    .example(
      'satchel email bounce 01J00000000000000000000000',
      'satchel email bounce 01J00000000000000000000000 --complaint',
      'satchel email bounce --report bounce.eml',
    )
    .does(async ({ services, actor }, options, id?: string) => {
      const file = textOption(options, 'report');
      const others = [id, options.soft, options.complaint, options.recipient];
      if ((file === undefined) === (id === undefined))
        throw new UsageError('Name the email, or give --report with a file.');
      if (file !== undefined && others.some((other) => other !== undefined))
        throw new UsageError('A report says itself whom it concerns and how: give --report alone.');
      if (file !== undefined) {
        const message = await readSecretBytes(cli, file === '-' ? '-' : `@${file}`, 'the report');
        return presentReport(await services.deliveries.takeReportByHand(actor, message));
      }
      if (options.soft === true && options.complaint === true)
        throw new UsageError('Give --soft or --complaint, not both.');
      const kind = options.soft ? 'soft_bounced' : options.complaint ? 'complained' : 'bounced';
      const address = textOption(options, 'recipient');
      const said = { kind, ...(address === undefined ? {} : { address }) } as const;
      const noted = await services.deliveries.reportByHand(actor, id ?? '', said);
      const text = noted.is_new
        ? `Noted for ${noted.recipient}. The email is ${noted.status}.`
        : `This was known of ${noted.recipient} before: nothing changed.`;
      return { json: noted, text };
    });
}

function presentReport(taken: TakenReport): CliResult {
  const lines = taken.told.map(
    ({ recipient, kind, is_new }) => `${recipient}: ${kind}${is_new ? '' : ', as was known'}`,
  );
  const none = 'It tells of no end for anybody whom the email was sent to: nothing changed.';
  const text = [`Email ${taken.email_id}`, ...(lines.length > 0 ? lines : [none])].join('\n');
  return { json: taken, text };
}

function registerRetry<S extends Needs>(email: Noun<S>): void {
  email
    .verb('retry [ids...]', 'queue emails again that failed, bounced or are unknown')
    .option('--failed', 'all that failed since --since, but for those it had better leave out')
    .option('--since <time>', 'such as 2030-01-31T09:00:00Z, 90m, 6h or 2d')
    .remark(`--failed leaves out, and names: mails that are unknown, as their relay may have taken them; mails sent while their client
waited, which was told and may have sent them again; mails of test keys; and those of a broadcast that was cancelled. Name such a one to have it queued all the same. A bounced one is queued only where it is named.`)
    .example('satchel email retry 01J00000000000000000000000', 'satchel email retry --failed --since 6h')
    .does(async ({ services, actor }, options, ...ids) => {
      const is_bulk = options.failed === true;
      const since = textOption(options, 'since');
      if (is_bulk === ids.length > 0 || is_bulk !== (since !== undefined))
        throw new UsageError('Name the emails, or give --failed together with --since.');
      const { results, left_out } =
        since === undefined
          ? { results: await services.deliveries.requeue(actor, ids), left_out: [] }
          : await services.deliveries.requeueFailed(actor, momentSince(since, services.clock.now()));
      const queued = results.flatMap((result) => ('job_id' in result ? [result] : []));
      const refused = results.flatMap((result) => ('refusal' in result ? [result] : []));
      const [first] = refused;
      const error = first && {
        code: first.code ?? 'conflict',
        message: `${first.id} is not queued: ${first.refusal}`,
      };
      return {
        json: {
          queued,
          refused: refused.map(({ id, refusal }) => ({ id, refusal })),
          left_out,
          ...(error && { error }),
        },
        text: [
          ...queued.map((one) => `${one.id} is queued again`),
          ...refused.map((one) => `${one.id} is not queued: ${one.refusal}`),
          ...left_out.map((one) => `${one.id} is left out: ${one.reason}`),
          `${queued.length} queued, ${refused.length} not${is_bulk ? `, ${left_out.length} left out` : ''}`,
          ...(left_out.length > 0
            ? ['To queue one that was left out all the same: satchel email retry ID']
            : []),
        ].join('\n'),
        exit: refused.length > 0 ? EXIT.refused : EXIT.done,
      };
    });
}
