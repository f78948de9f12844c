/** Capabilities as the fields of tokens and people, and the rule that nobody gives what they lack. */
import { invalid } from '../../errors.ts';
import { MAX_ASSIGNMENTS } from '../../limits.ts';
import {
  ADMINISTER,
  type Capability,
  GRANTABLE,
  type ManagementCaller,
  refuseBeyondScope,
  requireCapabilities,
  requireWriting,
} from './callers.ts';
import { t } from './schema.ts';

type CapabilityFlags = Record<Capability, boolean>;

/** The capabilities as a record shows them. */
export const capabilityFields = {
  can_manage_database: t.Boolean(),
  can_read_vault: t.Boolean(),
  can_reveal_vault: t.Boolean(),
  can_write_vault: t.Boolean(),
  can_read_database_tokens: t.Boolean(),
  can_read_ai_accounts: t.Boolean(),
};

/** What may be given, as the body of a new or changed token or person has it. */
export const powerFields = {
  ...capabilityFields,
  can_administer: t.Boolean(),
  /** Changes nothing. */
  read_only: t.Boolean(),
  all_projects: t.Boolean(),
  /** Numeric ids, ULIDs or slugs. */
  projects: t.Array(t.String(), { maxItems: MAX_ASSIGNMENTS }),
};

/** For the `together` of their routes: each of them counts for what the others may be. */
export const POWERS = [...GRANTABLE, 'read_only', 'all_projects', 'projects'] as const;

export function capabilitiesOf(holder: CapabilityFlags): Capability[] {
  return GRANTABLE.filter((capability) => holder[capability]);
}

/** Those of a stored list. */
export function capabilitiesNamed(names: readonly string[]): Capability[] {
  return GRANTABLE.filter((capability) => names.includes(capability));
}

export function flagsOf(capabilities: readonly Capability[]): CapabilityFlags {
  return {
    can_manage_database: capabilities.includes('can_manage_database'),
    can_read_vault: capabilities.includes('can_read_vault'),
    can_reveal_vault: capabilities.includes('can_reveal_vault'),
    can_write_vault: capabilities.includes('can_write_vault'),
    can_read_database_tokens: capabilities.includes('can_read_database_tokens'),
    can_read_ai_accounts: capabilities.includes('can_read_ai_accounts'),
    can_administer: capabilities.includes('can_administer'),
  };
}

/** What somebody may do, and where; project_ids is empty where that is everywhere. */
export type Powers = Pick<ManagementCaller, 'capabilities' | 'read_only' | 'all_projects' | 'project_ids'>;

/** What only somebody who writes can use. */
const WRITING = ['can_manage_database', 'can_write_vault', ADMINISTER] as const;

/** Throws AppError `invalid` for powers that contradict each other. */
export function requireSensible({ all_projects, project_ids, ...powers }: Powers): void {
  requireNoneOfWriting(powers);
  if (all_projects === project_ids.length > 0) {
    throw invalid({ projects: ['name at least one project, or all projects, but not both'] });
  }
  if (powers.capabilities.has(ADMINISTER) && !all_projects) {
    throw invalid({ [ADMINISTER]: ['goes with all projects only'] });
  }
}

/** Throws AppError `invalid` for who is to be read-only, and to hold what is nothing without writing. */
export function requireNoneOfWriting({
  capabilities,
  read_only,
}: Pick<Powers, 'capabilities' | 'read_only'>): void {
  const contrary = read_only ? WRITING.filter((each) => capabilities.has(each)) : [];
  if (contrary.length > 0) throw invalid({ read_only: [`does not go with ${contrary.join(', ')}`] });
}

/** The capabilities that a body asks for. */
export function capabilitiesIn(sent: Readonly<Record<string, unknown>>): Set<Capability> {
  return new Set(GRANTABLE.filter((each) => sent[each] === true));
}

/** As `requireHolding`, for a body that is not validated yet: 403 comes before 422. */
export function requireGivable(giver: ManagementCaller, sent: Readonly<Record<string, unknown>>): void {
  requireCapabilities(giver, [...capabilitiesIn(sent)]);
}

/** Nobody gives what they lack; the shell (null) lacks nothing. Throws AppError `forbidden`. */
export function requireHolding(giver: ManagementCaller | null, powers: Powers): void {
  if (!giver) return;
  requireWriting(giver);
  requireCapabilities(giver, [...powers.capabilities]);
  refuseBeyondScope(giver, powers);
}
