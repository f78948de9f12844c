/** Who calls, and what they may do. access/keys, access/tokens and access/people look credentials up. */
import { AppError, forbidden } from '../../errors.ts';
import type { ActorKind } from '../database/tables.ts';

/** What an API key may do, by the contract's names; two are parts of `write`: adding and deleting files. */
export type Permission =
  | 'read'
  | 'write'
  | 'upload'
  | 'delete'
  | 'email'
  | 'email_template'
  | 'captcha'
  | 'email_marketing';

/** What a token or a person may get beyond projects, keys and what is in projects. Off by default. */
export const CAPABILITIES = [
  'can_manage_database',
  'can_read_vault',
  'can_reveal_vault',
  'can_write_vault',
  'can_read_database_tokens',
  'can_read_ai_accounts',
] as const;
/** Opens what is of no project: people, tokens, domains, mailboxes, backups. Only with all projects. */
export const ADMINISTER = 'can_administer';
/** All that can be given. */
export const GRANTABLE = [...CAPABILITIES, ADMINISTER] as const;
export type Capability = (typeof GRANTABLE)[number];

/** What of a request decides whether its API key is accepted. */
export interface KeyCredentials {
  api_key: string | null;
  origin: string | null;
  app_id: string | null;
  android_package: string | null;
  android_cert: string | null;
}

/** The bearer of an accepted API key. */
export interface KeyCaller {
  readonly key_id: number;
  readonly key_name: string;
  readonly project_id: number;
  readonly project_public_id: string;
  readonly is_test: boolean;
  readonly is_restricted: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly rate_limit_per_minute: number;
  /** X-App-Id or X-Android-Package, where sent. */
  readonly app_id: string | null;
}

/** Who is accepted on the management plane: the bearer of a token, or a person who is signed in. */
export interface ManagementCaller {
  readonly kind: 'token' | 'person';
  /** Unique within its kind: token 5 and person 5 are two callers. */
  readonly id: number;
  readonly name: string;
  readonly all_projects: boolean;
  /** Numeric ids; empty and meaningless when all_projects. */
  readonly project_ids: readonly number[];
  readonly capabilities: ReadonlySet<Capability>;
  /** Whether they change nothing, whatever else they may do. */
  readonly read_only: boolean;
  /** The environments of vaults that they know; all, where it is not said. */
  readonly environments?: readonly string[];
  /** Who the audit trail names, where that is not the caller: the account of a shell. */
  readonly actor?: Actor;
}

/** A person who is signed in, and the session that they ask by. */
export interface SessionCaller {
  readonly person: ManagementCaller;
  readonly session_id: string;
}

/** Who is held responsible in the audit trail. */
export interface Actor {
  readonly kind: ActorKind;
  readonly id: string | null;
  readonly name: string;
  readonly ip: string | null;
}

/** Satchel itself, where nobody asked. */
export const SYSTEM: Actor = { kind: 'system', id: null, name: 'satchel', ip: null };

/** A caller as the audit trail names it. */
export function actorOf(caller: ManagementCaller, ip: string | null): Actor {
  return caller.actor ?? { kind: caller.kind, id: String(caller.id), name: caller.name, ip };
}

/** The bearer of an API key, as the audit trail names it. */
export function keyActor({ key_id, key_name }: KeyCaller, ip: string | null): Actor {
  return { kind: 'system', id: `api_key:${key_id}`, name: `API key ${key_name}`, ip };
}

/** What the 403 calls a permission where that is not its own name. */
const PERMISSION_NAMES: Partial<Record<Permission, string>> = {
  email_marketing: "'can_manage_email_marketing'",
  upload: "'write', or 'upload'",
};

/** Throws AppError `forbidden` naming the first permission that the key lacks. */
export function requirePermissions(caller: KeyCaller, needed: readonly Permission[]): void {
  for (const permission of needed) {
    if (!caller.permissions.has(permission)) {
      const name = PERMISSION_NAMES[permission] ?? `'${permission}'`;
      throw forbidden(`This API key lacks the permission ${name}. An admin can give it on the key.`);
    }
  }
}

const NEEDS_NO_ORIGIN =
  'This key is restricted, and nobody sends an Origin this way: it lacks allow_no_origin (satchel key change KEY --allow-no-origin).';

/** The caller of a key that comes without an origin, by SMTP or by the API of another. Throws as `authenticate`, in words for that. */
export function withoutOrigin(
  authenticate: (credentials: KeyCredentials) => KeyCaller,
  api_key: string | null,
): KeyCaller {
  try {
    return authenticate({ api_key, origin: null, app_id: null, android_package: null, android_cert: null });
  } catch (error) {
    throw error instanceof AppError && error.kind === 'forbidden' ? forbidden(NEEDS_NO_ORIGIN) : error;
  }
}

/** A restricted key may do nothing in marketing but subscribe. Throws AppError `forbidden`. */
export function refuseRestricted(caller: KeyCaller): void {
  if (!caller.is_restricted) return;
  throw forbidden(
    'A restricted key stands in pages and apps, where anybody can read it: in email marketing it may only subscribe. Use a key that is not restricted.',
  );
}

/** What refusals call a caller. */
const CALLED = { token: 'This access token', person: 'Your account' } as const;

/** Throws AppError `forbidden` (TOKEN_PERMISSION_DENIED) for a caller who changes nothing. */
export function requireWriting({ kind, read_only }: ManagementCaller): void {
  if (!read_only) return;
  throw forbidden(`${CALLED[kind]} is read-only: it changes and sends nothing.`, {
    code: 'TOKEN_PERMISSION_DENIED',
    details: { required_scope: 'write' },
  });
}

/** Throws AppError `forbidden` (TOKEN_PERMISSION_DENIED) with the first capability that the caller lacks. */
export function requireCapabilities(caller: ManagementCaller, needed: readonly Capability[]): void {
  for (const capability of needed) {
    if (!caller.capabilities.has(capability)) {
      throw forbidden(`${CALLED[caller.kind]} lacks the capability ${capability}.`, {
        code: 'TOKEN_PERMISSION_DENIED',
        details: { required_scope: capability },
      });
    }
  }
}

/** Whether a project is within the caller's scope. */
export function mayAccessProject(caller: ManagementCaller, project_id: number): boolean {
  return caller.all_projects || caller.project_ids.includes(project_id);
}

/** Ids of the projects whose records a caller sees; null for all records. */
export type Scope = readonly number[] | null;

/** The caller's scope. */
export function scopeOf(caller: ManagementCaller): Scope {
  return caller.all_projects ? null : caller.project_ids;
}

/**
 * The projects that get what a caller creates: their own; none for a caller of all projects. Throws AppError
 * `forbidden` for a scoped caller without any, who could not see what they make.
 */
export function projectsOfNewRecord(caller: ManagementCaller): readonly number[] {
  if (caller.all_projects) return [];
  if (caller.project_ids.length === 0) {
    throw forbidden(`${CALLED[caller.kind]} is scoped to projects that are gone, so it can create nothing.`);
  }
  return caller.project_ids;
}

/** A scoped caller changes only what concerns its own projects. Throws AppError `forbidden`. */
export function refuseBeyondScope(
  caller: ManagementCaller,
  record: { all_projects?: boolean; project_ids: readonly number[] },
): void {
  if (caller.all_projects) return;
  if (record.all_projects || record.project_ids.some((id) => !mayAccessProject(caller, id))) {
    throw forbidden(
      'This record serves projects outside your scope, so only a caller of all projects may change it.',
    );
  }
}

/** The 401 of the data plane. */
export function keyRefused(reason: 'missing' | 'invalid'): AppError {
  return new AppError(
    'unauthenticated',
    reason === 'missing'
      ? 'Send your API key in the X-API-Key header.'
      : 'The API key is not valid, or no longer active.',
  );
}
