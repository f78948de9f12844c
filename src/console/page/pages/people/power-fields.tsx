/** What a person or a token is to be able to do, and where: only what whoever gives it has. */
import { useState } from 'preact/hooks';
import type { Person } from '../../api.generated.ts';
import { CAPABILITIES, CAPABILITY_NAMES, type Capability, may } from '../../capabilities.ts';
import { CheckField } from '../../components/check-field.tsx';
import type { Entered } from '../../components/form.tsx';
import { ProjectsField } from './projects-field.tsx';

export type Powers = Partial<Record<Capability, boolean>> & {
  read_only?: boolean;
  all_projects?: boolean;
  projects?: string[];
};
type Holder = Pick<Person, Capability | 'all_projects' | 'projects'> & { read_only?: boolean };

const scopeOf = (of: Holder | undefined): string[] => (of?.projects ?? []).map(({ public_id }) => public_id);

export function PowerFields({ of }: { of?: Holder }) {
  // What nobody touched here is what there is now, also where it is loaded again.
  const [chosen, setEverywhere] = useState<boolean | null>(null);
  const is_everywhere = chosen ?? of?.all_projects ?? false;
  // What they have and whoever looks does not, is shown, though only who has as much takes it away.
  const offered = CAPABILITY_NAMES.filter((each) => may(each) || of?.[each]);
  return (
    <>
      <fieldset class="field">
        <legend class="field-label">Where</legend>
        <CheckField
          name="all_projects"
          label="All projects"
          hint="Later ones too."
          is_checked={is_everywhere}
          onChange={setEverywhere}
        />
      </fieldset>
      {!is_everywhere && <ProjectsField chosen={scopeOf(of)} />}
      <fieldset class="field">
        <legend class="field-label">What else</legend>
        <p class="hint">
          A project is its files, mail, templates, contacts, sequences, keys and audit trail. Beyond that:
        </p>
        <div class="checks">
          <CheckField
            name="read_only"
            label="Read-only"
            hint="Sees what the rest allows, and changes and sends nothing. Goes without managing databases, writing vaults and administering."
            is_checked={of?.read_only ?? false}
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
              is_checked={of?.[each] ?? false}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}

/** What was ticked, for the API. Of a holder, only what is another than before: where they are scoped to is left alone. */
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
