/** Capabilities of people and tokens: their names, and which of them whoever is signed in has. */
import { person } from './session.ts';

export const CAPABILITIES = {
  can_read_vault: ['Read vaults', 'Which values a vault holds, and the plain ones; never a secret.'],
  can_reveal_vault: ['Reveal vaults', 'Secrets and files of a vault, each time on record.'],
  can_write_vault: ['Write vaults', 'Change vaults; add, change and assign AI accounts.'],
  can_manage_database: ['Manage databases', 'Database accounts and projects, without their secrets.'],
  can_read_database_tokens: ['Reveal databases', 'The secrets of those, each time on record.'],
  can_read_ai_accounts: ['Read AI accounts', 'AI accounts, and their keys, each time on record.'],
  can_administer: ['Administer', 'People, tokens, domains, mailboxes, backups. Goes with all projects only.'],
} as const satisfies Record<string, readonly [label: string, hint: string]>;

export type Capability = keyof typeof CAPABILITIES;

export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as Capability[];

export function capabilitiesOf(holder: Partial<Record<Capability, boolean>>): Capability[] {
  return CAPABILITY_NAMES.filter((each) => holder[each] === true);
}

/** Says whether the person who is signed in has it. The API decides; this only spares them what it would refuse. */
export function may(capability: Capability): boolean {
  return person.value?.[capability] === true;
}

/** Says whether they may change and send anything at all. */
export function mayWrite(): boolean {
  return person.value?.read_only !== true;
}

/** Pages that only make or change something. */
const FOR_WRITING = /\/(?:new|import|edit|write)$|^\/set-up-sending$/;

/** Says whether a page has anything to show them. */
export function mayWriteAt(path: string): boolean {
  return mayWrite() || !FOR_WRITING.test(path);
}

interface Place {
  path: string;
  needs_administer?: boolean;
  needs_any?: readonly Capability[];
}

/** Says whether a page is for them: where it is not, nothing leads there. */
export function mayOpen({ path, needs_administer = false, needs_any }: Place): boolean {
  if (needs_administer && !may('can_administer')) return false;
  return (needs_any?.some(may) ?? true) && mayWriteAt(path);
}

/** Set by page-view.tsx: the page at a path, which its pages themselves can't import. */
export const placeOf = { find: (_path: string): Place | null => null };
