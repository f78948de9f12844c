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

/** The system has no name for a user without an account, which a container may well be run as. */
function nameOf(username: () => string, uid: number | undefined): string {
  try {
    return username();
  } catch {
    return String(uid ?? 'unknown');
  }
}
