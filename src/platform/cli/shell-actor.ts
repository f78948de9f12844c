/** The account that runs a command, for the audit trail. */
import { userInfo } from 'node:os';
import type { Note } from '../database/audit-trail.ts';
import { accountName } from '../host/ownership.ts';
import type { Actor } from '../http/callers.ts';
import type { ProjectCaller, ProjectRef } from '../http/routes.ts';

/** The account that runs this process. `username` and `uid` are what the system says; they are given for tests. */
export function shellActor(
  username: () => string = () => userInfo().username,
  uid: number | undefined = process.getuid?.(),
): Actor {
  const name = uid === undefined ? null : accountName(uid);
  return {
    kind: 'shell',
    id: uid === undefined ? null : String(uid),
    name: name ?? nameOf(username, uid),
    ip: null,
  };
}

/** A container may run as a user without an account, for whom the system has no name. */
function nameOf(username: () => string, uid: number | undefined): string {
  try {
    return username();
  } catch {
    return String(uid ?? 'unknown');
  }
}

/** The shell in place of a caller of the API: it acts in a project without a key. */
export function shellCaller(
  { actor, onTrail }: { actor: Actor; onTrail(project: ProjectRef): Note },
  project: ProjectRef,
): ProjectCaller {
  const note = onTrail(project);
  return { project, key: null, manager: null, identity: 'shell', actor, note, record: note };
}
