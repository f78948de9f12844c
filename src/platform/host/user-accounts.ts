/** Names of the machine's user accounts. */
import { readFileSync } from 'node:fs';

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
