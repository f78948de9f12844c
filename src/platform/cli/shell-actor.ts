/** Who runs a command, for the audit trail. */
import { userInfo } from 'node:os';
import { accountName } from '../host/user-accounts.ts';
import type { Actor } from '../http/callers.ts';

/** Who runs this process. `username` and `uid` are what the system says; they are given for tests. */
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
