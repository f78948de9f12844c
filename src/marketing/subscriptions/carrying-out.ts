/**
 * What a sign-up comes to: a contact, active or waiting for its click, with the mail that asks for that, or nothing. Of an address that
 * is suppressed it is noted what came of it, for whoever asks why nothing did.
 */
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import type { Rate } from '../../platform/http/rate-limit.ts';
import { type ContactRow, createContactToken, hasLeftByChoice, type Screened } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import { noteOutcome } from './coming-back.ts';
import { confirmationValues, dressOf } from './confirmation-mail.ts';
import { confirmUrl, hashOfToken } from './links.ts';
import type { SubscriptionsDeps } from './service.ts';
import { candidateOf, type SignUp } from './sign-ups.ts';
import * as store from './store.ts';

/** Contract, Limits: confirmation mails of an address a day. */
const MAX_CONFIRMATIONS_PER_DAY = 3;
/** Decision: confirm links expire after 7 days. */
const CONFIRMATION_EXPIRY_MS = 7 * 86_400_000;

type Owner = { id: number; public_id: string; name: string };

/** What a sign-up came to. `waiting`: the DNS gave no answer. */
type SignUpEnd = 'active' | 'confirmation_sent' | 'unchanged' | 'rejected' | 'waiting';

const CONFIRMATIONS = {
  per: 'utc_day',
  what: 'Sign-ups for lists of this project that ask for a confirmation',
} as const;

/** Counts a sign-up, or a mail, of those that ask for a confirmation. Throws AppError `rate_limited`. */
export function takeConfirmation(
  { rates, confirmations_per_day: limit }: SubscriptionsDeps,
  tx: Tx,
  owner: { id: number },
  what: 'sign-up' | 'mail',
): void {
  const rate: Rate = { ...CONFIRMATIONS, limit };
  rates.take(tx, `confirmation ${what} of project ${owner.id}`, rate);
}

/**
 * Carries a sign-up out: a new contact, active or waiting for its click, or another confirmation mail for one
 * that waits or had left. Throws AppError `rate_limited` or `unavailable` where the mail must wait; then
 * nothing has changed.
 */
export async function carryOut(
  deps: SubscriptionsDeps,
  project_id: number,
  sign_up: SignUp,
): Promise<SignUpEnd> {
  const { contacts, database, lists, projectOf } = deps;
  const owner = projectOf(project_id);
  const list = lists.findById(sign_up.list_id);
  if (!owner || !list || list.archived_at !== null) return 'rejected';
  const may_come_back = list.double_opt_in && !sign_up.is_test;
  const [screened] = await contacts.screen(owner, list, [candidateOf(sign_up)], { may_come_back });
  if (screened?.verdict === 'waiting') return 'waiting';
  return database.write((tx) => {
    if (screened?.verdict === 'passed') return admit(deps, tx, { owner, list, sign_up, screened });
    noteOutcome(deps, tx, { owner, list, sign_up }, screened?.rejection === 'no_mx' ? 'no_mx' : null);
    return 'rejected';
  });
}

function admit(
  deps: SubscriptionsDeps,
  tx: Tx,
  of: { owner: Owner; list: ListRow; sign_up: SignUp; screened: Extract<Screened, { verdict: 'passed' }> },
): SignUpEnd {
  const { contacts, lists, suppressions } = deps;
  const { owner, sign_up, screened } = of;
  const { email } = screened;
  const list = lists.requireOpen(tx, of.list);
  const comes_back =
    list.double_opt_in && !sign_up.is_test && suppressions.hasJustLeft(tx, owner, email) !== null;
  const status = list.double_opt_in ? 'pending' : 'active';
  const is_new = contacts.rowsOfAddress(tx, { project_id: owner.id, email }).length === 0;
  const options = { status, update_existing: false, may_come_back: comes_back } as const;
  const [admission] = contacts.admit(tx, owner, list, [screened], options);
  if (!admission || !('contact' in admission)) {
    noteOutcome(deps, tx, { owner, list, sign_up }, null);
    return 'rejected';
  }
  let { contact } = admission;
  const to = { owner, list, contact, sign_up };
  if (comes_back) {
    // Nothing of them changes before the click.
    const end = askForConfirmation(deps, tx, to, { comes_back });
    noteOutcome(deps, tx, to, end === 'confirmation_sent' ? 'asked' : 'mails_used_up');
    return end;
  }
  if (contact.status === 'active' && admission.outcome === 'duplicate') return 'unchanged';
  if (hasLeftByChoice(contact) && !list.double_opt_in && !sign_up.is_of_mail) return 'unchanged';
  // They had left, and the suppression was lifted since: now they ask to be back.
  if (admission.outcome === 'duplicate' && contact.status !== 'pending')
    contact = contacts.renew(tx, contact, screened.candidate, { is_confirmed_at_once: !list.double_opt_in });
  if (list.double_opt_in) return askForConfirmation(deps, tx, { ...to, contact }, { comes_back });
  const { is_test, at, ip, origin, tracking } = sign_up;
  // Anybody can type in any address: what is known of one, that changes nothing of.
  if (is_new && tracking) deps.tracking.set(tx, contact, { at, ip, origin, tracking: 'allowed', by: 'form' });
  return contacts.confirm(tx, contact, { by: 'form', is_test }).status === 'active' ? 'active' : 'unchanged';
}

function askForConfirmation(
  deps: SubscriptionsDeps,
  tx: Tx,
  { owner, list, contact, sign_up }: { owner: Owner; list: ListRow; contact: ContactRow; sign_up: SignUp },
  { comes_back }: { comes_back: boolean },
): 'confirmation_sent' | 'unchanged' {
  const { clock, emails, lists, marketing, link_domains } = deps;
  const now = clock.now();
  const day_began = now - (now % DAY_MS);
  const of = { project_id: owner.id, email: contact.email, since_ms: day_began };
  const sent = emails.countConfirmations(tx, of);
  if (sent >= MAX_CONFIRMATIONS_PER_DAY) return 'unchanged';
  // A sign-up of yesterday may get its mail today.
  takeConfirmation(deps, tx, owner, 'mail');
  const template = lists.requireConfirmationTemplate(list);
  const settings = marketing.settings(owner.id, tx);
  const token = createContactToken();
  const { at, ip, origin, first_name, last_name, is_test, tracking } = sign_up;
  store.insertConfirmation(tx, {
    token_hash: hashOfToken(token),
    contact_id: contact.id,
    expires_at: now + CONFIRMATION_EXPIRY_MS,
    is_test,
    tracking_at: tracking ? at : null,
    tracking_ip: tracking ? ip : null,
    tracking_origin: tracking ? origin : null,
    created_at: now,
    comes_back: comes_back ? { at, ip, origin, first_name, last_name } : null,
  });
  const confirm_url = confirmUrl(link_domains.baseOf(owner.id, tx), token);
  const confirmation = { contact, list, owner, settings, confirm_url };
  emails.acceptConfirmation(tx, {
    project_id: owner.id,
    is_test,
    to: contact.email,
    from_name: settings.from_name,
    reply_to: settings.reply_to,
    template,
    allowed_mailboxes: marketing.confirmingAccounts(owner.id, list.from_address),
    variables: confirmationValues(confirmation),
    layOut: (content) => {
      const dress = dressOf(content, confirmation);
      return dress ? { ...content, ...deps.layOut(content, dress) } : content;
    },
  });
  return 'confirmation_sent';
}
