/** Fields for the powers of a person or a token, and for their projects: nobody gives more than they have. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Person } from '../../api.generated.ts';
import { CAPABILITIES, CAPABILITY_NAMES, type Capability, may } from '../../capabilities.ts';
import { CheckField, optional, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { OptionsField } from '../../components/options-field.tsx';
import { Advanced } from '../../components/page.tsx';
import { ProjectsField } from './projects-field.tsx';
import { mayGive, ROLE_NAMES, ROLES, type RoleName, roleOf } from './roles.ts';

export type Powers = Partial<Record<Capability, boolean>> & {
  read_only?: boolean;
  all_projects?: boolean;
  projects?: string[];
};
type Holder = Pick<Person, Capability | 'all_projects' | 'projects'> & { read_only?: boolean };

type RoleChoice = RoleName | 'other';

const OTHER = { value: 'other', label: 'Something else', says: 'What they may do is ticked below.' } as const;

const scopeOf = (of: Holder | undefined): string[] => (of?.projects ?? []).map(({ public_id }) => public_id);

export const WHO = {
  email: text('Address', { type: 'email', hint: 'They sign in with it.' }),
  name: optional('Name', { hint: 'As the audit trail calls them. Empty: their address.' }),
};

/** `children`: what else few need. */
export function PowerFields({ of, children }: { of?: Holder; children?: ComponentChildren }) {
  // Null until somebody chooses here: then the loaded values count, also once they are loaded again.
  const [role_chosen, setRole] = useState<RoleChoice | null>(null);
  const [chosen, setEverywhere] = useState<boolean | null>(null);
  const has = of ? (roleOf(of) ?? 'other') : 'worker';
  const name = role_chosen ?? has;
  const role = name === 'other' ? null : ROLES[name];
  const is_run = role !== null && 'is_everywhere' in role;
  const is_everywhere = is_run || (chosen ?? of?.all_projects ?? false);
  // Their present powers stay shown until another role is chosen.
  const can: readonly string[] =
    role_chosen === null || role === null ? CAPABILITY_NAMES.filter((each) => of?.[each]) : role.can;
  const read_only = role_chosen === null || role === null ? (of?.read_only ?? false) : 'read_only' in role;
  // Powers that whoever looks lacks are shown too, though only somebody who has them takes them away.
  const offered = CAPABILITY_NAMES.filter((each) => may(each) || of?.[each]);
  return (
    <>
      <OptionsField<RoleChoice>
        name="role"
        label="Role"
        value={name}
        onChange={setRole}
        options={[
          ...ROLE_NAMES.filter((each) => mayGive(each) || each === has).map((value) => ({
            value,
            label: ROLES[value].label,
            says: ROLES[value].says,
          })),
          OTHER,
        ]}
      />
      {is_run ? (
        <input type="hidden" name="all_projects" value="on" />
      ) : (
        <>
          <CheckField
            name="all_projects"
            label="In all projects"
            hint="Later ones too."
            is_checked={is_everywhere}
            onChange={setEverywhere}
          />
          {!is_everywhere && <ProjectsField chosen={scopeOf(of)} />}
        </>
      )}
      <Advanced key={role_chosen ?? ''} is_set={name === 'other'}>
        {children}
        <fieldset class="field">
          <legend class="hidden">What they may do</legend>
          <div class="checks">
            <CheckField
              name="read_only"
              label="Read-only"
              hint="Sees what the rest allows, and changes and sends nothing. Goes without managing databases, writing vaults and administering."
              is_checked={read_only}
            />
            {offered.map((each) => (
              <CheckField
                key={each}
                name={each}
                label={CAPABILITIES[each][0]}
                hint={
                  may(each)
                    ? CAPABILITIES[each][1]
                    : 'You lack it, so only somebody who has it takes anything away.'
                }
                is_checked={can.includes(each)}
              />
            ))}
          </div>
        </fieldset>
      </Advanced>
    </>
  );
}

/** The ticked powers, for the API. Of a holder only those that changed, so that their projects are left alone. */
export function powersIn(entered: Entered, of?: Holder): Powers {
  const flags = Object.fromEntries(CAPABILITY_NAMES.map((each) => [each, entered.flag(each)]));
  const read_only = entered.flag('read_only');
  const all_projects = entered.flag('all_projects');
  const projects = entered.all('projects');
  const is_same =
    of &&
    of.all_projects === all_projects &&
    (all_projects || projects.toSorted().join() === scopeOf(of).toSorted().join());
  if (is_same) return { ...flags, read_only };
  return { ...flags, read_only, all_projects, ...(all_projects ? {} : { projects }) };
}
