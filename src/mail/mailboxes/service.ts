/** Mailboxes: the addresses that mail goes out from, each with its relay, its daily limit and its health. */
import type { Config } from '../../config.ts';
import { conflict, invalid, notFound, toDo } from '../../errors.ts';
import { SEND_ANSWER_MS } from '../../limits.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Changes } from '../../platform/database/schemas.ts';
import { type Clock, utcDay } from '../../platform/host/clock.ts';
import { within } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { STRANGER } from '../../platform/mail/smtp-replies.ts';
import type { DeliveryOutcome, MailContent, MailPurpose, SmtpRoute } from '../../platform/mail/types.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import type { InboxAddress, Inboxes } from '../inboxes/service.ts';
import type { EventsRecord, NewEvents, RelayEvents } from '../relay-events/service.ts';
import { listStandingsFor, type SendingDomains } from '../sending-domains/service.ts';
import { chooseMailbox, listCandidates, senderAt } from './choosing.ts';
import * as health from './health.ts';
import { prepareNotice, sendByAny } from './notices.ts';
import { Outlets, type OutletsDeps, requireRoom, testMessage } from './outlets.ts';
import { parseRate, RATE_FORM } from './pace.ts';
import { Paces } from './paces.ts';
import { presentMailbox } from './records.ts';
import { changeRelay, type Relay, type RelayParts } from './relay.ts';
import { RelayChecks } from './relay-check.ts';
import { withPortsHint } from './relay-providers.ts';
import type { MailboxRecord } from './schemas.ts';
import * as store from './store.ts';
import type { MailboxRow } from './tables.ts';

/* The choice, which accepting and each attempt make in transactions of their own. */
export {
  type Candidate,
  type Choice,
  type ChoiceRequest,
  type ChosenMailbox,
  chooseMailbox,
  fateOfMail,
  listCandidates,
  refuseDomain,
  senderAt,
  sendersOf,
  takeMailbox,
} from './choosing.ts';
export type { Outlet } from './outlets.ts';
export { deleteUsageBefore, releaseUsage, takeUsage } from './store.ts';

export interface NewMailbox {
  address: string;
  /** Null: what is sent is captured. */
  relay: Relay | null;
  /** Messages a UTC day; no limit unless given. */
  daily_limit?: number | null;
  /** Mails a second, a minute or an hour, such as 14/s; no rate unless given. */
  rate?: string | null;
  /** True unless given. */
  for_transactional?: boolean;
  for_marketing?: boolean;
  /** Envelope sender; the address itself unless given. */
  return_path?: string | null;
  /** Whether each mail gets a return path of its own; where there is an inbox unless given. */
  verp?: boolean | null;
  /** Where reports about its mail arrive, to be read; none unless given. */
  inbox?: InboxAddress | null;
}

/** A field that is absent stays as it is. */
export type MailboxChanges = Partial<Omit<NewMailbox, 'address'>> & {
  status?: MailboxRow['status'];
  /** Where its relay's provider tells what became of its mail; null: nowhere. */
  events?: NewEvents | null;
  /** In place of `relay`: what is to change of the one that is there. */
  relay_parts?: RelayParts;
};

export interface MailboxTest {
  address: string;
  to: string;
  outcome: DeliveryOutcome['outcome'] | 'captured';
  smtp_code: number | null;
  response: string;
}

interface MailboxesDeps extends OutletsDeps {
  config: Pick<Config, 'public_url'>;
  clock: Clock;
  mailer: Mailer;
  sending_domains: SendingDomains;
  inboxes: Inboxes;
  relay_events: RelayEvents;
}

export class Mailboxes {
  readonly health = health;
  readonly pace = new Paces();
  readonly outlets: Outlets;
  readonly relay_checks: RelayChecks;

  constructor(private readonly deps: MailboxesDeps) {
    this.outlets = new Outlets(deps);
    this.relay_checks = new RelayChecks(deps);
  }

  /**
   * Adds a mailbox of a domain that is known. Throws AppError `invalid` for an address that is none or whose
   * domain was not added, `conflict` when the address has a mailbox already.
   */
  async add(actor: Actor, input: NewMailbox): Promise<MailboxRecord> {
    const parsed = parseAddress(input.address);
    if (!parsed) throw invalid({ address: ['must be an email address, such as hello@example.com'] });
    const { for_transactional = true, for_marketing = false } = input;
    if (!for_transactional && !for_marketing)
      throw invalid({ for: ['must name transactional, marketing or both'] });
    requireRate(input.rate);
    if (input.verp) requireRoom({ address: parsed.address, return_path: input.return_path ?? null });
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const domain = this.deps.sending_domains.findByName(tx, parsed.domain);
      if (!domain)
        throw invalid(
          { address: ['has a domain that was not added; add it first: satchel domain add NAME'] },
          { remedy: toDo('sending', 'satchel domain add NAME') },
        );
      if (store.findMailbox(tx, parsed.address))
        throw conflict('There is a mailbox of this address already. To change it:', {
          remedy: toDo('mailbox', `satchel mailbox change ${shellWord(parsed.address)}`, parsed.address),
        });
      const mailbox = store.insertMailbox(tx, {
        ...this.#relayColumns(tx, parsed.address, input.relay),
        domain_id: domain.id,
        address: parsed.address,
        return_path: input.return_path ?? null,
        verp: input.verp ?? null,
        verp_refusal: null,
        daily_limit: input.daily_limit ?? null,
        rate: input.rate ?? null,
        for_transactional,
        for_marketing,
        status: 'active',
        failures: 0,
        resting_until: null,
        last_error: null,
        last_failure_at: null,
        last_success_at: null,
        refusal: null,
        refused_at: null,
        revision: 1,
        created_at: now,
      });
      if (input.inbox) this.deps.inboxes.set(tx, mailbox.id, input.inbox);
      this.#audit(tx, actor, 'mailbox.added', mailbox.address, now);
      this.deps.sending_domains.takeOver(tx, actor, domain.id);
      return this.#recordOf(tx, mailbox, domain.name, now);
    });
  }

  /**
   * Changes a mailbox in place: what it sent today and the mails that wait for it stay. Another relay ends
   * its rest, and so does resuming; these and any rate make it forget what its relay has taught. Throws
   * AppError `not_found`, `invalid` when it would be for nothing.
   */
  async change(actor: Actor, address: string, changes: MailboxChanges): Promise<MailboxRecord> {
    const { id } = this.require(address);
    requireRate(changes.rate);
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const before = store.findMailboxById(tx, id);
      const domain = before && this.deps.sending_domains.findById(tx, before.domain_id);
      if (!before || !domain) throw notFound('Mailbox', 'satchel mailbox list');
      const { relay: new_relay, relay_parts, inbox, events, status, ...plain } = changes;
      const joined = relay_parts && changeRelay(before, relay_parts);
      const relay = joined?.relay ?? new_relay;
      const sealed = joined?.keeps_password ? before.sealed_smtp_password : null;
      const after = { ...before, ...plain };
      if (!after.for_transactional && !after.for_marketing)
        throw invalid({ for: ['must name transactional, marketing or both'] });
      if (after.verp) requireRoom(after);
      const is_changed = Object.keys({ ...plain, ...(relay === undefined ? {} : { relay }) }).length > 0;
      const columns = relay === undefined ? {} : this.#relayColumns(tx, before.address, relay, sealed);
      const was_read = this.deps.inboxes.find(tx, id);
      const was_told = this.deps.relay_events.find(tx, id);
      const has_parts = inbox !== undefined || events !== undefined;
      if (events && { ...before, ...columns }.kind === 'capture')
        throw invalid({ events: ['are told by relays, and this mailbox captures its mail'] });
      const settings = {
        ...plain,
        ...columns,
        ...(relay === undefined ? {} : RESTED),
        ...(status === undefined ? {} : { status }),
        ...(status === 'active' ? RESTED : {}),
        ...(is_changed || has_parts ? { verp_refusal: null, revision: before.revision + 1 } : {}),
      };
      if (Object.keys(settings).length > 0) store.updateMailbox(tx, id, settings);
      if (inbox !== undefined) this.deps.inboxes.set(tx, id, inbox);
      if (events !== undefined) this.deps.relay_events.set(tx, id, events);
      if (relay !== undefined || changes.rate !== undefined || status === 'active') this.pace.forget(tx, id);
      const note = (event: string, changes: Changes = {}): void =>
        this.#audit(tx, actor, event, before.address, now, changes);
      if (is_changed || has_parts)
        note('mailbox.changed', {
          ...changesOf(before, { ...plain, ...columns }),
          ...(inbox === undefined
            ? {}
            : partChange(
                'inbox',
                was_read?.address ?? null,
                this.deps.inboxes.find(tx, id)?.address ?? null,
              )),
          ...(events === undefined
            ? {}
            : partChange('events', tellEvents(was_told), tellEvents(this.deps.relay_events.find(tx, id)))),
        });
      if (status !== undefined) note(status === 'active' ? 'mailbox.resumed' : 'mailbox.paused');
      this.deps.sending_domains.takeOver(tx, actor, domain.id);
      return this.#recordOf(tx, { ...before, ...settings }, domain.name, now);
    });
  }

  /** Gives a mailbox's relay events another address. Throws AppError `not_found`, `conflict` where it has none. */
  async rotateEvents(actor: Actor, address: string): Promise<MailboxRecord> {
    const mailbox = this.require(address);
    const now = this.deps.clock.now();
    await this.deps.database.write((tx) => {
      this.deps.relay_events.rotate(tx, mailbox.id);
      this.#audit(tx, actor, 'mailbox.events_rotated', mailbox.address, now);
    });
    return this.show(mailbox);
  }

  /** `sealed` is a password that stays. */
  #relayColumns(tx: Tx, address: string, relay: Relay | null, sealed: string | null = null) {
    const password = relay?.password ?? null;
    return {
      kind: relay ? ('smtp' as const) : ('capture' as const),
      smtp_host: relay?.host ?? null,
      smtp_port: relay?.port ?? null,
      smtp_security: relay?.security ?? null,
      smtp_username: relay?.username ?? null,
      is_signed_by_relay: relay?.signs ?? false,
      sealed_smtp_password: password === null ? sealed : this.outlets.sealPassword(tx, address, password),
    };
  }

  /** Ready to send one mail of Satchel's own from the default domain. Throws AppError `conflict`: no_mailbox, public_url. */
  prepareNotice(): ReturnType<typeof prepareNotice> {
    return prepareNotice(this.#noticesDeps());
  }

  /** Sends a mail of Satchel's own through whichever mailbox takes it; see `sendByAny`. */
  sendNotice(notice: { to: string; subject: string; text: string }): Promise<string | null> {
    return sendByAny(this.#noticesDeps(), notice);
  }

  #noticesDeps() {
    return { ...this.deps, outlets: this.outlets, public_url: this.deps.config.public_url };
  }

  /* --- What a domain asks ------------------------------------------------------------------------------------------ */

  countOf(tx: Tx, domain_id: number): number {
    return store.listMailboxesOf(tx, domain_id).length;
  }

  /** Hosts of the relays that send for a domain. */
  relaysOf(tx: Tx, domain_id: number): string[] {
    return store.listMailboxesOf(tx, domain_id).flatMap((mailbox) => mailbox.smtp_host ?? []);
  }

  /** Whether any mailbox of a domain leaves the DKIM signature to us; so it is too while there is none. */
  areSigned(tx: Tx, domain_id: number): boolean {
    const relays = store.listMailboxesOf(tx, domain_id).filter(({ kind }) => kind === 'smtp');
    return relays.length === 0 || relays.some(({ is_signed_by_relay }) => !is_signed_by_relay);
  }

  /** The domains that bounces of a domain's mail go to. */
  bounceDomainsOf(tx: Tx, domain_id: number): string[] {
    return store
      .listMailboxesOf(tx, domain_id)
      .map(({ address, return_path }) => (return_path ?? address).split('@')[1] ?? '');
  }

  /** The address of a mailbox of a domain that has an inbox; null where none has. */
  reportsTo(tx: Tx, domain_id: number): string | null {
    const own = store.listMailboxesOf(tx, domain_id);
    return own.find(({ id }) => this.deps.inboxes.find(tx, id) !== null)?.address ?? null;
  }

  /** True where an active mailbox of a domain hands transactional mail to a relay. */
  canRelay(tx: Tx, domain_id: number): boolean {
    return store
      .listMailboxesOf(tx, domain_id)
      .some(
        ({ kind, status, for_transactional }) => kind === 'smtp' && status === 'active' && for_transactional,
      );
  }

  /** True where no mailbox of a domain has a relay. */
  onlyCapture(tx: Tx, domain_id: number): boolean {
    return store.listMailboxesOf(tx, domain_id).every(({ kind }) => kind === 'capture');
  }

  /** Has the mailboxes of a domain take up what changed of it. */
  renew(tx: Tx, domain_id: number): void {
    store.renewMailboxesOf(tx, domain_id);
  }

  /* --- The choice -------------------------------------------------------------------------------------------------- */

  /**
   * Why no mailbox, or none of those that are named, can take such mail of a project, quotas apart; null
   * where one can.
   */
  refusalOf(project_id: number, purpose: MailPurpose, only: readonly string[]): string | null {
    const now_ms = this.deps.clock.now();
    // Of a test: no quota is asked.
    const asked = { project_id, domain: null, purpose, only, is_test: true, day: utcDay(now_ms), now_ms };
    const choice = chooseMailbox(listCandidates(this.deps.database.read, asked), asked);
    return choice.ok ? null : choice.error.message;
  }

  /**
   * The address, as it is stored, of an active mailbox that such mail of a project may go out from, by its
   * address in any case.
   */
  senderOf(project_id: number, address: string, purpose: MailPurpose): string | null {
    const day = utcDay(this.deps.clock.now());
    const candidates = listCandidates(this.deps.database.read, { project_id, day });
    return senderAt(candidates, address, purpose)?.address ?? null;
  }

  /* --- Mailboxes --------------------------------------------------------------------------------------------------- */

  /** Every mailbox, or every one that a project may send from, the default domain's first. */
  list(of: { project_id: number } | null = null): MailboxRecord[] {
    const read = this.deps.database.read;
    const now = this.deps.clock.now();
    return this.deps.sending_domains
      .listRows(read, of)
      .flatMap((domain) =>
        store
          .listMailboxesOf(read, domain.id)
          .map((mailbox) => this.#recordOf(read, mailbox, domain.name, now)),
      );
  }

  /** What goes out from each mailbox that a project may send from, and where to. */
  listUses(project_id: number) {
    const { read } = this.deps.database;
    const domain_ids = listStandingsFor(read, project_id).map(({ domain_id }) => domain_id);
    return store
      .listMailboxes(read)
      .filter(({ domain_id }) => domain_ids.includes(domain_id))
      .map((mailbox) => ({
        address: mailbox.address,
        is_active: mailbox.status === 'active',
        for_marketing: mailbox.for_marketing,
        for_transactional: mailbox.for_transactional,
        relay_host: mailbox.smtp_host,
      }));
  }

  /** The name of the domain that a mailbox is of; null once it is gone. */
  domainOf(read: Tx, id: number): string | null {
    const mailbox = store.findMailboxById(read, id);
    return (mailbox && this.deps.sending_domains.findById(read, mailbox.domain_id)?.name) ?? null;
  }

  /** How many mails a mailbox has taken from a UTC day on. */
  countSentSince(id: number, day: string): number {
    return store.countUsageSince(this.deps.database.read, id, day) ?? 0;
  }

  /** By address or number. Throws AppError `not_found`. */
  require(named: string): MailboxRow {
    const { read } = this.deps.database;
    const mailbox = /^\d{1,15}$/.test(named)
      ? store.findMailboxById(read, Number(named))
      : store.findMailbox(read, parseAddress(named)?.address ?? named);
    if (!mailbox) throw notFound('Mailbox', 'satchel mailbox list');
    return mailbox;
  }

  /** As `change`, for what is changed most. Throws AppError `not_found`. */
  setStatus(actor: Actor, address: string, status: 'active' | 'paused'): Promise<MailboxRecord> {
    return this.change(actor, address, { status });
  }

  /** As `list`, of one. */
  show({ id }: MailboxRow): MailboxRecord {
    const { read } = this.deps.database;
    const mailbox = store.findMailboxById(read, id);
    const domain = mailbox && this.deps.sending_domains.findById(read, mailbox.domain_id);
    if (!mailbox || !domain) throw notFound('Mailbox', 'satchel mailbox list');
    return this.#recordOf(read, mailbox, domain.name, this.deps.clock.now());
  }

  /** Removes a mailbox; mails that wait for it go out from another one. Throws AppError `not_found`. */
  async remove(actor: Actor, address: string): Promise<void> {
    const { id, address: name } = this.require(address);
    await this.deps.database.write((tx) => {
      if (!store.findMailboxById(tx, id)) throw notFound('Mailbox');
      store.deleteMailbox(tx, id);
      this.#audit(tx, actor, 'mailbox.removed', name, this.deps.clock.now());
    });
  }

  /**
   * Sends one message through a mailbox at once, whatever its state, and tells what its relay said within
   * SEND_ANSWER_MS. One that is taken ends the mailbox's rest, as any success does.
   */
  async test(address: string, to: string): Promise<MailboxTest> {
    const mailbox = this.require(address);
    const recipient = parseAddress(to);
    if (!recipient) throw invalid({ to: ['must be an email address'] });
    const outlet = this.outlets.of({ mailbox_id: mailbox.id, revision: mailbox.revision });
    if (!outlet) throw notFound('Mailbox', 'satchel mailbox list');
    const content = testMessage(outlet, recipient.address, this.deps.clock.now());
    if (!outlet.route) {
      const message = await this.deps.mailer.compose(content);
      const response = `The mailbox captures mail: the message of ${message.length} bytes was made and not sent.`;
      return {
        address: mailbox.address,
        to: recipient.address,
        outcome: 'captured',
        smtp_code: null,
        response,
      };
    }
    const handing = this.#handTest(mailbox.id, content, outlet.route, recipient.address);
    // One that is late is recorded all the same, unless that fails, which nobody waits for any more.
    void handing.catch(() => {});
    const answer = await within(handing, SEND_ANSWER_MS);
    const { outcome, smtp_code, response } = answer === 'not yet' ? NOT_YET : answer;
    const told =
      answer !== 'not yet' && answer.outcome !== 'sent' && answer.is_stranger
        ? { smtp_code: null, response: STRANGER }
        : { smtp_code, response: withPortsHint(response, mailbox) };
    return { address: mailbox.address, to: recipient.address, outcome, ...told };
  }

  /** Hands a test over, which tells of the relay as any mail does. */
  async #handTest(
    mailbox_id: number,
    content: MailContent,
    route: SmtpRoute,
    to: string,
  ): Promise<DeliveryOutcome> {
    const { database, clock, mailer } = this.deps;
    const started_at = clock.now();
    await database.write((tx) => this.pace.take(tx, mailbox_id, started_at, { is_waited_for: true }));
    const outcome = await mailer.deliver(content, route, [to]);
    await database.write((tx) => {
      const now_ms = clock.now();
      if (outcome.outcome === 'sent') this.health.recordSuccess(tx, mailbox_id, now_ms);
      this.pace.record(tx, mailbox_id, outcome, { started_at, now_ms });
    });
    return outcome;
  }

  #recordOf(read: Tx, mailbox: MailboxRow, domain: string, now_ms: number): MailboxRecord {
    return presentMailbox(mailbox, {
      domain,
      now_ms,
      inbox: this.deps.inboxes.find(read, mailbox.id),
      events: this.deps.relay_events.find(read, mailbox.id),
      used_today: store.readUsage(read, mailbox.id, utcDay(now_ms)),
      pace: store.findPace(read, mailbox.id),
    });
  }

  #audit(tx: Tx, actor: Actor, event: string, address: string, now_ms: number, changes: Changes = {}): void {
    recordAudit(tx, actor, { event, target: `mailbox:${address}`, project: null, changes }, now_ms);
  }
}

const NOT_YET = {
  outcome: 'unreachable',
  smtp_code: null,
  response: `The relay has not answered within ${SEND_ANSWER_MS / 1000} s; mail waits for it for longer, up to 10 minutes.`,
} as const;

const RESTED = { failures: 0, resting_until: null, last_error: null, refusal: null, refused_at: null };

/** Throws AppError `invalid`. */
function requireRate(rate: string | null | undefined): void {
  if (typeof rate === 'string' && parseRate(rate) === null) throw invalid({ rate: [`must be ${RATE_FORM}`] });
}

/** Where only its password or key became another one, the rest is the same. */
function partChange(name: 'inbox' | 'events', from: string | null, to: string | null): Changes {
  return { [name]: from === to && to !== null ? { secret: true } : { from, to } };
}

const tellEvents = (of: EventsRecord | null): string | null =>
  of && [of.provider, ...(of.configuration_set === null ? [] : [of.configuration_set])].join(', ');
