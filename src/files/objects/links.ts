/**
 * Signed links: each opens one file to whoever has it, until it expires. Links are not stored: a key of the
 * project signs them, and without that key they open nothing.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { notFound } from '../../errors.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import type { LinkWishes, ObjectLink } from './schemas.ts';
import { deleteLinkKey, findLinkKey, findObject, saveLinkKey } from './store.ts';
import type { ObjectRow } from './tables.ts';

/** The project whose files they open. */
interface Owner {
  readonly id: number;
  readonly public_id: string;
}

/** The contents of a link; its signature covers all of them. */
interface Claim {
  public_id: string;
  expires_at: number;
  download: boolean;
}

interface ObjectLinksDeps {
  database: Database;
  clock: Clock;
  key_ring: Pick<KeyRing, 'seal' | 'open'>;
  public_url: string;
  projectOf(id: number): Owner | null;
}

/** The length of SHA-256. */
const KEY_BYTES = 32;

export class ObjectLinks {
  constructor(private readonly deps: ObjectLinksDeps) {}

  /** Makes a link to an object of the project; `note` tells of it alone. Throws AppError `not_found`. */
  async create(owner: Owner, object: ObjectRow, wishes: LinkWishes, note: Note): Promise<ObjectLink> {
    const { clock, database, public_url } = this.deps;
    const expires_at = clock.now() + wishes.expires_in_seconds * 1000;
    const claim: Claim = { public_id: object.public_id, expires_at, download: wishes.download ?? false };
    const metadata = { expires_at: toIso(expires_at) };
    const key = await database.write((tx) => {
      if (!findObject(tx, object.public_id)) throw notFound('Object');
      note(tx, { event: 'object_link.created', target: `object:${object.public_id}`, metadata });
      return this.#find(tx, owner) ?? this.#make(tx, owner);
    });
    return { url: `${public_url}/api/v1/object-links/${tokenOf(claim, key)}`, expires_at: toIso(expires_at) };
  }

  /** The object that a link opens; null where it is expired, revoked or forged, or the object is gone. */
  open(token: string): { public_id: string; download: boolean } | null {
    const { clock, database, projectOf } = this.deps;
    const claim = claimOf(token);
    const object = claim && findObject(database.read, claim.public_id);
    const owner = object ? projectOf(object.project_id) : null;
    const key = owner && this.#find(database.read, owner);
    if (!claim || !key || !isSame(token, tokenOf(claim, key)) || claim.expires_at <= clock.now()) return null;
    return claim;
  }

  /** Revokes every link to the project's files that was made so far. */
  revoke(owner: Owner, note: Note): Promise<void> {
    return this.deps.database.write((tx) => {
      deleteLinkKey(tx, owner.id);
      note(tx, { event: 'object_links.revoked', target: `project:${owner.id}` });
    });
  }

  /** The project's signing key. Null also where it does not decrypt: then any link could be forged. */
  #find(read: Tx, owner: Owner): Uint8Array | null {
    const sealed = findLinkKey(read, owner.id);
    return sealed === null ? null : this.deps.key_ring.open(read, sealed, contextOf(owner));
  }

  #make(tx: Tx, owner: Owner): Uint8Array {
    const key = randomBytes(KEY_BYTES);
    const sealed_key = this.deps.key_ring.seal(tx, projectScope(owner.public_id), contextOf(owner), key);
    saveLinkKey(tx, { project_id: owner.id, sealed_key, created_at: this.deps.clock.now() });
    return key;
  }
}

function contextOf(owner: Owner): string[] {
  return ['object_link_key', owner.public_id];
}

function tokenOf({ public_id, expires_at, download }: Claim, key: Uint8Array): string {
  const said = `${public_id}.${expires_at}.${download ? 'd' : 'i'}`;
  return `${said}.${createHmac('sha256', key).update(said).digest('base64url')}`;
}

const TOKEN = /^([0-9A-Z]{26})\.(\d{1,16})\.([di])\.[\w-]{43}$/;

/** What a link says of itself: to be believed only where its signature holds. */
function claimOf(token: string): Claim | null {
  const [, public_id, expires_at, mode] = TOKEN.exec(token) ?? [];
  return public_id === undefined
    ? null
    : { public_id, expires_at: Number(expires_at), download: mode === 'd' };
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
