/** Invitations: people who are added or reset, with the link given out or mailed to them. */
import { conflict } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Actor, ManagementCaller } from '../../platform/http/callers.ts';
import type { NewPersonInput, PersonInvited, PersonWithLink } from './schemas.ts';
import { audit, type People } from './service.ts';
import type { PersonRow } from './tables.ts';

/** Sends one mail at once, and answers with the relay's words where it was not taken; null where it was. */
export type SendNotice = (mail: { to: string; subject: string; text: string }) => Promise<string | null>;

interface InvitationsDeps {
  database: Database;
  clock: Clock;
  people: People;
  public_url: string;
}

export class Invitations {
  readonly #deps: InvitationsDeps;
  #prepare: () => SendNotice = () => {
    throw conflict('There is no mail here.', { code: 'no_mailbox' });
  };

  constructor(deps: InvitationsDeps) {
    this.#deps = deps;
  }

  /** Sets who sends. `prepare` throws AppError `conflict` (no_mailbox, public_url) if nothing can go. */
  mailBy(prepare: () => SendNotice): void {
    this.#prepare = prepare;
  }

  /** As `People.add`. With `send` the link is mailed instead of answered. Throws AppError `conflict`. */
  add(
    actor: Actor,
    giver: ManagementCaller | null,
    { send = false, ...input }: NewPersonInput,
  ): Promise<PersonWithLink | PersonInvited> {
    return this.#invite(actor, send, INVITATION, (onAllowed) =>
      this.#deps.people.add(actor, giver, input, onAllowed),
    );
  }

  /** As `People.reset`; with `send` as `add`. */
  reset(
    actor: Actor,
    giver: ManagementCaller | null,
    person: PersonRow,
    { send = false, totp = false }: { send?: boolean; totp?: boolean },
  ): Promise<PersonWithLink | PersonInvited> {
    return this.#invite(actor, send, RESET, (onAllowed) =>
      this.#deps.people.reset(actor, giver, person, { totp }, onAllowed),
    );
  }

  async #invite(
    actor: Actor,
    is_sent: boolean,
    words: { subject: string; why: string },
    make: (onAllowed: () => void) => Promise<PersonWithLink>,
  ): Promise<PersonWithLink | PersonInvited> {
    if (!is_sent) return make(() => {});
    let send: SendNotice | null = null;
    const { link, ...person } = await make(() => {
      send = this.#prepare();
    });
    const { database, clock, public_url } = this.#deps;
    const { host } = new URL(public_url);
    const mail = {
      to: person.email,
      subject: `${words.subject} ${host}`,
      text: textOf(words.why, host, link),
    };
    const problem = send === null ? null : await (send as SendNotice)(mail); // Assigned in the callback above.
    const sent = problem === null;
    await database.write((tx) =>
      audit(tx, actor, 'person.invited', person, { email: person.email, sent }, clock.now()),
    );
    return sent ? { ...person, sent } : { ...person, sent, words: problem };
  }
}

const INVITATION = { subject: 'Your invitation to', why: 'You are invited to the console of Satchel at' };
const RESET = {
  subject: 'A new password for',
  why: 'You are to choose a new password for the console of Satchel at',
};

function textOf(why: string, host: string, link: string): string {
  return `${why} ${host}.

Choose your password here:
${link}

The link is good once, for 24 hours. If you did not expect this mail, leave it alone.
`;
}
