/** Mail that Satchel writes itself to one of its people: at once, once, and into no log. */
import { conflict, type Remedy, toDo } from '../../errors.ts';
import { SEND_ANSWER_MS } from '../../limits.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { within } from '../../platform/host/waiting.ts';
import { isLoopback, isLoopbackUrl } from '../../platform/http/hosts.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import { type Outlet, type Outlets, type OutletsDeps, ownMessage } from './outlets.ts';
import * as store from './store.ts';
import type { MailboxRow } from './tables.ts';

interface NoticesDeps extends Pick<OutletsDeps, 'database'> {
  clock: Clock;
  mailer: Pick<Mailer, 'deliver'>;
  sending_domains: SendingDomains;
  outlets: Outlets;
  public_url: string;
}

/** So many are tried for one mail: their relays may all be slow to fail. */
const MAX_MAILBOXES = 3;

type Relaying = Outlet & { route: NonNullable<Outlet['route']> };

/** A mail of Satchel's own. */
interface Notice {
  to: string;
  subject: string;
  text: string;
}

/**
 * Ready to send one from the default domain; what comes back sends it and resolves with null, or with why it was not taken.
 * Throws AppError `conflict`: no_mailbox where none there sends to a relay, public_url where its links would lead nowhere.
 */
export function prepareNotice(deps: NoticesDeps) {
  const { public_url } = deps;
  const outlet = outletOf(deps);
  if (isLoopbackUrl(public_url) && !isLoopback(outlet.route.host))
    throw conflict(
      `The link would begin with ${public_url}, which nobody else can reach: set SATCHEL_PUBLIC_URL to the address of this server and start it again.`,
      { code: 'public_url', remedy: toDo('settings', null) },
    );
  return (notice: Notice): Promise<string | null> => send(deps, outlet, notice);
}

/** Why it was not taken; null where it was. */
async function send(
  { clock, mailer }: Pick<NoticesDeps, 'clock' | 'mailer'>,
  outlet: Relaying,
  notice: Notice,
): Promise<string | null> {
  const content = ownMessage(outlet, notice, clock.now());
  const answer = await within(mailer.deliver(content, outlet.route, [notice.to]), SEND_ANSWER_MS);
  if (answer === 'not yet')
    return `The relay has not answered within ${SEND_ANSWER_MS / 1000} s; the mail may arrive all the same.`;
  return answer.outcome === 'sent' ? null : answer.response;
}

/**
 * Sends one through the first mailbox that takes it: those of the default domain come first, and whichever rests or is refused
 * last. Answers why the first took none; null where one took it. Throws AppError `conflict` where none sends to a relay.
 */
export async function sendByAny(deps: NoticesDeps, notice: Notice): Promise<string | null> {
  const { database, sending_domains, outlets } = deps;
  const first = sending_domains.listRows(database.read, null).find(({ is_default }) => is_default)?.id;
  const rank = (box: MailboxRow): number =>
    rankOf(box) + (box.refusal === null ? 0 : 4) + (box.domain_id === first ? 0 : 2);
  const boxes = store
    .listMailboxes(database.read)
    .filter(isRelaying)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, MAX_MAILBOXES);
  if (boxes.length === 0)
    throw conflict('No mailbox sends to a relay:', {
      code: 'no_mailbox',
      remedy: toDo('sending', 'satchel mailbox add ADDRESS --smtp RELAY'),
    });
  let words: string | null = null;
  for (const { id: mailbox_id, revision } of boxes) {
    const outlet = outlets.of({ mailbox_id, revision });
    const refusal = outlet?.route
      ? await send(deps, { ...outlet, route: outlet.route }, notice)
      : 'It is gone.';
    if (refusal === null) return null;
    words ??= refusal;
  }
  return words;
}

function outletOf({ database, sending_domains, outlets }: NoticesDeps): Relaying {
  const { read } = database;
  const domain = sending_domains.listRows(read, null).find(({ is_default }) => is_default);
  const boxes = domain ? store.listMailboxesOf(read, domain.id) : [];
  const mailbox = boxes.filter(isRelaying).sort((one, other) => rankOf(one) - rankOf(other))[0];
  const outlet = mailbox && outlets.of({ mailbox_id: mailbox.id, revision: mailbox.revision });
  if (!outlet?.route) {
    const [why, remedy] = whyNone(domain?.name ?? null, boxes);
    throw conflict(why, { code: 'no_mailbox', remedy });
  }
  return { ...outlet, route: outlet.route };
}

function isRelaying({ kind, status }: MailboxRow): boolean {
  return kind === 'smtp' && status === 'active';
}

/** One that rests after failures comes last, one for marketing alone behind the others. */
function rankOf({ for_transactional, resting_until }: MailboxRow): number {
  return (resting_until === null ? 0 : 4) + (for_transactional ? 0 : 1);
}

function whyNone(domain: string | null, boxes: readonly MailboxRow[]): [why: string, remedy: Remedy] {
  const add = (of: string) => toDo('sending', `satchel mailbox add ADDRESS@${of} --smtp RELAY`);
  if (domain === null)
    return [
      'There is no sending domain to mail from:',
      toDo('sending', 'satchel domain add NAME, then satchel mailbox add ADDRESS --smtp RELAY'),
    ];
  if (boxes.length === 0) return [`The default domain ${domain} has no mailbox:`, add(domain)];
  return boxes.some(({ kind }) => kind === 'smtp')
    ? [
        `Every mailbox of the default domain ${domain} that has a relay is paused:`,
        toDo('mailbox', 'satchel mailbox resume ADDRESS'),
      ]
    : [
        `Every mailbox of the default domain ${domain} captures its mail, so that nobody would get it:`,
        add(domain),
      ];
}
