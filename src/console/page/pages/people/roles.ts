/** Roles in a sentence each, with the capabilities by which a role is known again. */
import { CAPABILITIES, CAPABILITY_NAMES, type Capability, capabilitiesOf, may } from '../../capabilities.ts';

export type Holder = Partial<Record<Capability | 'read_only', boolean>>;

interface Role {
  label: string;
  says: string;
  can: readonly Capability[];
  read_only?: boolean;
  /** It goes with all projects only. */
  is_everywhere?: boolean;
}

export const ROLES = {
  worker: {
    label: 'Works in projects',
    says: 'Files, mail, contacts, sequences, keys and settings of the projects below; no secrets.',
    can: [],
  },
  builder: {
    label: 'Builds the apps',
    says: 'The same, and what is in the vaults: reads, shows and changes the secrets of those projects.',
    can: ['can_read_vault', 'can_reveal_vault', 'can_write_vault'],
  },
  reader: {
    label: 'Looks on',
    says: 'Sees the projects below, and changes and sends nothing.',
    can: [],
    read_only: true,
  },
  administrator: {
    label: 'Runs this Satchel',
    says: 'Everything: people, domains, mailboxes, backups, and every project with its secrets.',
    can: CAPABILITY_NAMES,
    is_everywhere: true,
  },
} as const satisfies Record<string, Role>;

export type RoleName = keyof typeof ROLES;
export const ROLE_NAMES = Object.keys(ROLES) as RoleName[];
const roleNamed: Readonly<Record<RoleName, Role>> = ROLES;

/** The role whose capabilities these are; null where it is none of them. */
export function roleOf(of: Holder): RoleName | null {
  const has = capabilitiesOf(of).join();
  const fits = (name: RoleName): boolean =>
    roleNamed[name].can.join() === has && (roleNamed[name].read_only ?? false) === (of.read_only ?? false);
  return ROLE_NAMES.find(fits) ?? null;
}

/** Says whether whoever is signed in has all of it, and may so give it. */
export function mayGive(name: RoleName): boolean {
  return roleNamed[name].can.every(may);
}

/** In a list: the role, or else what they may do. */
export function tellRole(of: Holder): string {
  const role = roleOf(of);
  if (role !== null) return ROLES[role].label;
  const { can_administer, ...rest } = of;
  const begin = of.read_only ? 'Looks on' : can_administer ? 'Administers' : 'Works in projects';
  const further = capabilitiesOf(rest).map((each) => CAPABILITIES[each][0].toLowerCase());
  return further.length === 0 ? begin : `${begin}; may ${further.join(', ')}`;
}
