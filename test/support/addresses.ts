/** What a project holds about an address, for tests. */
import type { TestApp } from './helpers.ts';

type Services = TestApp['services'];

/** What an export of an address says. */
export async function heldOf(
  { privacy }: Services,
  owner: { id: number; public_id: string },
  address: string,
): Promise<Record<string, unknown>> {
  return JSON.parse((await Array.fromAsync(privacy.export(owner, address))).join(''));
}

/** Records of the contacts of an address on all lists. */
export function contactsOf({ contacts, database }: Services, project_id: number, email: string) {
  return contacts.rowsOfAddress(database.read, { project_id, email }).map((row) => contacts.present(row));
}
