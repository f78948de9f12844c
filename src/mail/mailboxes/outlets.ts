/**
 * How mail leaves each mailbox: its relay with the password, the envelope sender, and what it is signed with.
 */
import { AppError, invalid, toDo } from '../../errors.ts';
import { MAX_LOCAL_PART_CHARS } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/host/ids.ts';
import type { DkimIdentity } from '../../platform/mail/dkim.ts';
import type { MailContent, SmtpRoute } from '../../platform/mail/types.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import type { Inboxes } from '../inboxes/service.ts';
import type { RelayEvents } from '../relay-events/service.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import { gapOf, parseRate } from './pace.ts';
import * as store from './store.ts';
import type { MailboxKind, MailboxRow } from './tables.ts';

/** How mail leaves a mailbox. */
export interface Outlet {
  kind: MailboxKind;
  address: string;
  /** Where bounces go: the return path, else the address itself. */
  envelope_sender: string;
  /** What return paths of one mail each are made from; null where mails get none. */
  verp_base: string | null;
  /** What its mails bear besides, by a code of each, for events of the relay; null where none are wanted. */
  event_fields: ((code: string) => Record<string, string>) | null;
  /** Null for a capturing mailbox. */
  route: SmtpRoute | null;
  /** Null where the relay signs. */
  dkim: DkimIdentity | null;
}

export interface OutletsDeps {
  database: Database;
  key_ring: KeyRing;
  sending_domains: SendingDomains;
  inboxes: Inboxes;
  relay_events: RelayEvents;
}

export class Outlets {
  /**
   * By mailbox, as of its last revision: opening sealed keys for every mail would cost more than the mail.
   */
  readonly #known = new Map<number, { revision: number; outlet: Outlet }>();

  constructor(private readonly deps: OutletsDeps) {}

  /** The password of a mailbox's relay, as it is stored. */
  sealPassword(tx: Tx, address: string, password: string): string {
    return this.deps.key_ring.seal(tx, PLATFORM_SCOPE, passwordContext(address), password);
  }

  /**
   * How mail leaves a mailbox; null when it is gone. Throws AppError `internal` when its password or its
   * domain's DKIM key does not decrypt.
   */
  of(chosen: { mailbox_id: number; revision: number }): Outlet | null {
    const known = this.#known.get(chosen.mailbox_id);
    if (known?.revision === chosen.revision) return known.outlet;
    const read = this.deps.database.read;
    const mailbox = store.findMailboxById(read, chosen.mailbox_id);
    const domain = mailbox && this.deps.sending_domains.findById(read, mailbox.domain_id);
    if (!mailbox || !domain) return null;
    const outlet: Outlet = {
      kind: mailbox.kind,
      address: mailbox.address,
      envelope_sender: mailbox.return_path ?? mailbox.address,
      verp_base: verpBaseOf(mailbox, this.deps.inboxes.find(read, mailbox.id) !== null),
      event_fields: this.deps.relay_events.fieldsFor(read, mailbox.id),
      route: this.#routeOf(read, mailbox, {
        key: `mailbox:${mailbox.id}:${mailbox.revision}`,
        client_name: domain.name,
      }),
      dkim: mailbox.is_signed_by_relay ? null : this.deps.sending_domains.identityOf(read, domain),
    };
    this.#known.set(mailbox.id, { revision: chosen.revision, outlet });
    return outlet;
  }

  #routeOf(read: Tx, mailbox: MailboxRow, named: Pick<SmtpRoute, 'key' | 'client_name'>): SmtpRoute | null {
    const { smtp_host, smtp_port, smtp_security, sealed_smtp_password } = mailbox;
    if (smtp_host === null || smtp_port === null || smtp_security === null) return null;
    return {
      ...named,
      host: smtp_host,
      port: smtp_port,
      security: smtp_security,
      username: mailbox.smtp_username,
      password:
        sealed_smtp_password === null
          ? null
          : this.#openPassword(read, mailbox.address, sealed_smtp_password),
      return_path: mailbox.return_path,
      gap_ms: gapOf(mailbox.rate === null ? null : parseRate(mailbox.rate)),
    };
  }

  /** Addresses of the mailboxes whose relay's password does not decrypt. */
  listUndecryptable(): string[] {
    const { read } = this.deps.database;
    return store
      .listMailboxes(read)
      .filter(
        ({ address, sealed_smtp_password }) =>
          sealed_smtp_password !== null &&
          this.deps.key_ring.openText(read, sealed_smtp_password, passwordContext(address)) === null,
      )
      .map(({ address }) => address);
  }

  #openPassword(read: Tx, address: string, sealed: string): string {
    const text = this.deps.key_ring.openText(read, sealed, passwordContext(address));
    if (text !== null) return text;
    throw new AppError('internal', 'The password of the mailbox does not decrypt. What mends it:', {
      remedy: toDo('finding', 'satchel doctor'),
    });
  }
}

/** It binds a sealed password to its mailbox. */
function passwordContext(address: string): string[] {
  return ['mailbox', address, 'smtp_password'];
}

/** The mail that `satchel mailbox test` sends. */
export function testMessage(outlet: Sender, to: string, now_ms: number): MailContent {
  const text = `This message was sent by "satchel mailbox test".\n\nThe mailbox ${outlet.address} works.\n`;
  return ownMessage(outlet, { to, subject: 'A test message from Satchel', text }, now_ms);
}

type Sender = Pick<Outlet, 'address' | 'dkim'>;

/** A message in Satchel's own name. */
export function ownMessage(
  outlet: Sender,
  { to, subject, text }: { to: string; subject: string; text: string },
  now_ms: number,
): MailContent {
  return {
    message_id: `<${newId(now_ms).toLowerCase()}@${outlet.address.split('@')[1]}>`,
    date_ms: now_ms,
    from: { address: outlet.address, name: null },
    to: { address: to, name: null },
    cc: [],
    bcc: [],
    reply_to: null,
    subject,
    html: null,
    text,
    attachments: [],
    dkim: outlet.dkim,
  };
}

/* --- Return paths of one mail each (VERP): whether a mailbox's mails get them, and why not where they should ---------- */

/**
 * Leaves room for what makes a return path one mail's own: a plus sign, an id of 26, a dot and a code of 20.
 */
export const MAX_VERP_LOCAL_PART_CHARS = MAX_LOCAL_PART_CHARS - 48;

type Base = Pick<MailboxRow, 'address' | 'return_path'>;

const NO_ROOM = `needs a return path of at most ${MAX_VERP_LOCAL_PART_CHARS} characters before the @, as each mail adds its own behind them`;

export function verpOf(
  mailbox: Base & Pick<MailboxRow, 'verp' | 'verp_refusal'>,
  has_inbox: boolean,
): { verp: boolean; verp_problem: string | null } {
  if (!(mailbox.verp ?? has_inbox)) return { verp: false, verp_problem: null };
  const { verp_refusal } = mailbox;
  const refused = verp_refusal === null ? null : `its relay refused one: ${verp_refusal}`;
  const verp_problem = hasRoom(mailbox) ? refused : `that ${NO_ROOM}.`;
  return { verp: verp_problem === null, verp_problem };
}

/** The address that return paths are made from; null where mails get none. */
function verpBaseOf(mailbox: Parameters<typeof verpOf>[0], has_inbox: boolean): string | null {
  return verpOf(mailbox, has_inbox).verp ? baseOf(mailbox) : null;
}

/** Throws AppError `invalid`. */
export function requireRoom(mailbox: Base): void {
  if (!hasRoom(mailbox)) throw invalid({ verp: [NO_ROOM] });
}

function hasRoom(mailbox: Base): boolean {
  return baseOf(mailbox).lastIndexOf('@') <= MAX_VERP_LOCAL_PART_CHARS;
}

function baseOf({ return_path, address }: Base): string {
  return return_path ?? address;
}
