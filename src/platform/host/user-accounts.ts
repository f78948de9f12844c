/** Names of the machine's user accounts. */
import { readFileSync } from 'node:fs';

/** The numbers of the groups that list an account; see group(5). */
export function groupsOfAccount(name: string): number[] {
  try {
    const groups = readFileSync('/etc/group', 'utf8').split('\n');
    return groups.flatMap((line) => {
      const [, , gid, members = ''] = line.split(':');
      return members.split(',').includes(name) ? [Number(gid)] : [];
    });
  } catch {
    return [];
  }
}

/** The account's name by its number. `userInfo` trusts the variable USER, which cron lacks. */
export function accountName(uid: number): string | null {
  try {
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
    const fields = accounts.map((line) => line.split(':')).find((each) => each[2] === String(uid));
    return fields?.[0] || null;
  } catch {
    return null; // Not every system has the file, and a directory service's accounts are not in it.
  }
}
