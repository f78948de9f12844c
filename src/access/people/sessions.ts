/** Sessions: which person a browser's cookie stands for, until when, and ending them. */
import { notFound } from '../../errors.ts';
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../limits.ts';
import { toIso } from '../../platform/host/clock.ts';
import { actorOf, type SessionCaller } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { hashToken } from '../../platform/secrets/token-format.ts';
import type { SessionRecord } from './schemas.ts';
import { audit, type People, type PeopleDeps } from './service.ts';
import * as store from './session-store.ts';
import type { SingleSignOn } from './sso.ts';
import type { SessionRow } from './tables.ts';

/** A session's last use is noted this often. */
const SESSION_SEEN_GRANULARITY_MS = 60_000;

export class Sessions {
  constructor(private readonly deps: PeopleDeps & { people: People; sso: Pick<SingleSignOn, 'isOnly'> }) {}

  /**
   * The person of a session's secret, with their present powers, or null. The use is noted at most once a
   * minute, and the answer does not wait for that.
   */
  authenticate(secret: string): SessionCaller | null {
    const { database, clock, people, sso } = this.deps;
    const found = store.findSession(database.read, hashToken(secret));
    const now = clock.now();
    if (!found?.person.is_active || expiryOf(found.session) <= now) return null;
    const { session, person } = found;
    if (session.signed_in_by !== 'sso' && sso.isOnly()) return null;
    if (Math.abs(now - session.last_seen_at) >= SESSION_SEEN_GRANULARITY_MS) {
      database.write((tx) => store.touchSession(tx, { id: session.id, now_ms: now })).catch(() => {});
    }
    return { person: people.callerOf(person), session_id: session.id };
  }

  /** One page of a person's own, newest first. */
  list(caller: SessionCaller, query: PageQuery): Page<SessionRecord> {
    const { read } = this.deps.database;
    const { id } = caller.person;
    return paginate(query, {
      total: store.countSessions(read, id),
      fetch: (limit, offset) => store.listSessions(read, { person_id: id, limit, offset }),
    }).map((session) => ({
      id: session.id,
      is_current: session.id === caller.session_id,
      ip: session.ip,
      user_agent: session.user_agent,
      created_at: toIso(session.created_at),
      last_seen_at: toIso(session.last_seen_at),
      expires_at: toIso(expiryOf(session)),
    }));
  }

  /** Ends one of a person's own sessions. Throws AppError `not_found`, for another's too. */
  async end(caller: SessionCaller, session_id: string, ip: string | null): Promise<void> {
    const { database, clock } = this.deps;
    const now = clock.now();
    await database.write((tx) => {
      if (store.deleteSession(tx, caller.person.id, session_id) === 0) throw notFound('Session');
      const is_own = session_id === caller.session_id;
      const event = is_own ? 'person.signed_out' : 'person.session_ended';
      audit(tx, actorOf(caller.person, ip), event, caller.person, {}, now);
    });
  }

  /** Forgets sessions that are over. */
  sweep(): Promise<number> {
    const now = this.deps.clock.now();
    const ended = { seen_before_ms: now - SESSION_IDLE_MS, made_before_ms: now - SESSION_ABSOLUTE_MS };
    return this.deps.database.write((tx) => store.deleteEndedSessions(tx, ended));
  }
}

function expiryOf(session: SessionRow): number {
  return Math.min(session.last_seen_at + SESSION_IDLE_MS, session.created_at + SESSION_ABSOLUTE_MS);
}
